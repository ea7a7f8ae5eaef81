package main

import (
	"slices"
	"testing"
)

func TestAffected(t *testing.T) {
	packages := []string{
		"m fmt m/runtime",
		"m/runtime m/compiler",
		"m/compiler",
		"m/controller m/runtime",
		"m/cmd/m m m/runtime",
		"m/conformance/cluster/life m/runtime",
	}
	for _, tc := range []struct {
		name         string
		files        []string
		vetted, want []string
	}{
		{"nothing", nil, nil, nil},
		{"a package and those that import it", []string{"compiler/a.go"}, []string{"m/runtime", "m/compiler"}, []string{"m/runtime", "m/compiler"}},
		{"not what imports everything", []string{"runtime/a.go"}, []string{"m", "m/runtime", "m/controller", "m/cmd/m", "m/conformance/cluster/life"}, []string{"m", "m/runtime"}},
		{"a program that differs itself", []string{"cmd/m/a.go"}, []string{"m/cmd/m"}, []string{"m/cmd/m"}},
		{"the root", []string{"a.go"}, []string{"m", "m/cmd/m"}, []string{"m"}},
		{"test data", []string{"compiler/testdata/a/b.txt"}, []string{"m/runtime", "m/compiler"}, []string{"m/runtime", "m/compiler"}},
		{"another module", []string{"tools/cmd/a/a.go"}, nil, nil},
	} {
		for vet, want := range map[bool][]string{true: tc.vetted, false: tc.want} {
			if got := affected("m", packages, tc.files, vet); !slices.Equal(got, want) {
				t.Errorf("%s, vet %v: %v, want %v", tc.name, vet, got, want)
			}
		}
	}
}
