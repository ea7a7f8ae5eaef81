package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// addAtFlag adds the --at flag, which locates Jobs in objects of other kinds.
func addAtFlag(flags *pflag.FlagSet, files *manifest.Options) {
	flags.Func("at", "`KIND=PATH` of specs of Jobs in objects of another kind, as in MyJob=spec.steps[*].template.spec; may be repeated",
		func(text string) error {
			name, path, _ := strings.Cut(text, "=")
			path = strings.TrimPrefix(path, ".")
			if _, err := kind.ParsePath(path); err != nil || name == "" {
				return errors.Join(errors.New("must be KIND=PATH, as in MyJob=spec.steps[*].template.spec"), err)
			}
			if files.At == nil {
				files.At = map[string]string{}
			}
			files.At[name] = path
			return nil
		})
}
