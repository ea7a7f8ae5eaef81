package library

import (
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

func errNoRecord(name string, got any) error {
	return fmt.Errorf("no such field: %T is no %s", got, name)
}

func errNoField(t *types.Type, name ref.Val) error {
	return fmt.Errorf("no such field %v in %s", name, t.TypeName())
}

func errNoConversion(t *types.Type, to string) error {
	return fmt.Errorf("type conversion error from %s to %s", t.TypeName(), to)
}

func errNewRecord(name string) error {
	return fmt.Errorf("an expression cannot make a %s", name)
}

func errNoPod(got ref.Val) error {
	return fmt.Errorf("no such overload: %s is no Pod", got.Type().TypeName())
}
