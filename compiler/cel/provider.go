package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Provider returns a type provider that adds the types of the schema and of the library
// to base.
func (s *Schema) Provider(base types.Provider) types.Provider { return provider{base, s} }

// Adapter returns a type adapter that adds the schema's values to base.
func (s *Schema) Adapter(base types.Adapter) types.Adapter { return adapter{base, s} }

type provider struct {
	types.Provider

	schema *Schema
}

// find returns a type of the schema or of the library.
func (p provider) find(name string) (*Type, bool) {
	if t, ok := p.schema.byName[name]; ok {
		return t, true
	}
	t, ok := recordTypes[name]
	return t, ok
}

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if t, ok := p.find(name); ok {
		return types.NewTypeTypeWithParam(t.CEL), true
	}
	return p.Provider.FindStructType(name)
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	t, ok := p.find(name)
	if !ok {
		return p.Provider.FindStructFieldNames(name)
	}
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names, true
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	t, ok := p.find(name)
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	f, ok := t.Field(field)
	if !ok {
		return nil, false
	}
	return f.cel, true
}

// NewValue returns an error, because rules cannot construct objects.
func (p provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if t, ok := p.find(name); ok {
		return types.NewErr("an expression cannot make a %s", t.Name)
	}
	return p.Provider.NewValue(name, fields)
}

type adapter struct {
	types.Adapter

	schema *Schema
}

func (a adapter) NativeToValue(value any) ref.Val {
	if v, ok := a.schema.Value(value); ok {
		return v
	}
	return a.Adapter.NativeToValue(value)
}
