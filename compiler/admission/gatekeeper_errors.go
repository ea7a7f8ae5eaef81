package admission

import "fmt"

func errNoRego(id string) error { return fmt.Errorf("%s: nothing in the bundle finds it", id) }
