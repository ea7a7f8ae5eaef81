package main

import (
	"slices"
	"testing"
)

func TestAffected(t *testing.T) {
	packages := []goPackage{
		{ImportPath: "m/compiler", folder: "compiler"},
		{ImportPath: "m/runtime", folder: "runtime", Imports: []string{"fmt", "m/compiler"}},
		{ImportPath: "m/controller", folder: "controller", Imports: []string{"m/runtime"}},
		{ImportPath: "m/cmd/program", folder: "cmd/program", Imports: []string{"m/compiler"}},
		{ImportPath: "m/conformance/cluster/life", folder: "conformance/cluster/life", Imports: []string{"m/compiler"}},
	}
	for changed, want := range map[string]struct{ vetted, tested []string }{
		"compiler":                 {[]string{"m/compiler", "m/cmd/program", "m/conformance/cluster/life"}, []string{"m/compiler", "m/runtime"}},
		"runtime":                  {[]string{"m/runtime", "m/controller"}, []string{"m/runtime"}},
		"cmd/program":              {[]string{"m/cmd/program"}, []string{"m/cmd/program"}},
		"conformance/cluster/life": {[]string{"m/conformance/cluster/life"}, nil},
		"docs":                     {nil, nil},
	} {
		vetted, tested := affected(packages, map[string]bool{changed: true})
		if !slices.Equal(vetted, want.vetted) || !slices.Equal(tested, want.tested) {
			t.Errorf("%s: vetted %v, tested %v", changed, vetted, tested)
		}
	}
}
