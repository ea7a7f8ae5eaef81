package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

func errFile(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

func errList(path []string, err error) error {
	return fmt.Errorf("%s: %w", strings.Join(path, "."), cmp.Or(err, errors.New("not a list of objects")))
}
