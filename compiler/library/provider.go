package library

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Provider adds the library's types to those of an environment.
func Provider(base types.Provider) types.Provider { return provider{base} }

type provider struct{ types.Provider }

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if r, ok := recordTypes[name]; ok {
		return types.NewTypeTypeWithParam(r.cel), true
	}
	return p.Provider.FindStructType(name)
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	if r, ok := recordTypes[name]; ok {
		return r.names, true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if r, ok := recordTypes[name]; ok {
		f, ok := r.fields[field]
		return f, ok
	}
	return p.Provider.FindStructFieldType(name, field)
}

// NewValue returns an error: expressions cannot construct the library's types.
func (p provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if _, ok := recordTypes[name]; ok {
		return types.NewErr("an expression cannot make a %s", name)
	}
	return p.Provider.NewValue(name, fields)
}
