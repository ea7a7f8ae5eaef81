package schema

import (
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// errAbsent has the words of CEL for a key that a map does not have.
func errAbsent(field string) error { return fmt.Errorf("no such key: %s", field) }

func errNoObject(t *Type, got any) error {
	return fmt.Errorf("no such field: %T is no %s", got, t.Name)
}

func errNoField(t *Type, name ref.Val) error {
	return fmt.Errorf("no such field %v in %s", name, t.Name)
}

func errNoConversion(t *Type, to string) error {
	return fmt.Errorf("type conversion error from %s to %s", t.Name, to)
}

func errNewObject(t *types.Type) error {
	return fmt.Errorf("an expression cannot make a %s", t.TypeName())
}
