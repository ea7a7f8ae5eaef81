package library

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Provider adds the library's types to those of an environment.
func Provider(base types.Provider) types.Provider { return provider{base} }

type provider struct{ types.Provider }

func (p provider) FindStructType(name string) (*types.Type, bool) {
	switch name {
	case ContainerName:
		return types.NewTypeTypeWithParam(containerType.cel), true
	case ConditionName:
		return types.NewTypeTypeWithParam(conditionType.cel), true
	default:
		return p.Provider.FindStructType(name)
	}
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	switch name {
	case ContainerName:
		return containerType.names, true
	case ConditionName:
		return conditionType.names, true
	default:
		return p.Provider.FindStructFieldNames(name)
	}
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	switch name {
	case ContainerName:
		f, ok := containerType.types[field]
		return f, ok
	case ConditionName:
		f, ok := conditionType.types[field]
		return f, ok
	default:
		return p.Provider.FindStructFieldType(name, field)
	}
}

// NewValue refuses to make records.
func (p provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if name == ContainerName || name == ConditionName {
		return types.WrapErr(errNewRecord(name))
	}
	return p.Provider.NewValue(name, fields)
}
