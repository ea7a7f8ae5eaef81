package structure

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program that looks up methods by computed names, as text/template does, keeps every exported method of every linked type.
// In podverdict these would be a quarter of the binary.
func TestLinkerDropsUnusedMethods(t *testing.T) {
	const lookup = " <ReflectMethod>" // the linker's mark for a function that looks up methods
	for _, program := range []string{"podverdict", "podverdict-controller"} {
		users := map[string]string{}
		for line := range strings.Lines(dependencies(t, "./cmd/"+program)) {
			user, used, found := strings.Cut(strings.TrimSpace(line), " -> ")
			if !found {
				continue
			}
			if name := symbol(used); users[name] == "" {
				users[name] = symbol(user)
			}
			if strings.HasSuffix(used, lookup) {
				t.Errorf("%s may look up any method, so that the linker keeps all:\n%s", program, strings.Join(chain(users, symbol(used)), "\n"))
				break
			}
		}
		if len(users) < 1000 {
			t.Errorf("the linker names %d symbols of %s", len(users), program)
		}
	}
}

// dependencies returns a line "user -> used" for each symbol of a program, in the order in which the linker finds it.
func dependencies(t *testing.T, program string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w -dumpdep", "-o", filepath.Join(t.TempDir(), "program"), program)
	command.Dir = root
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%.4000s", err, out)
	}
	return string(out)
}

// symbol returns the name of a symbol, without the linker's marks.
func symbol(marked string) string {
	name, _, _ := strings.Cut(marked, " <")
	return name
}

// chain returns the symbols by which main reaches a symbol.
func chain(users map[string]string, name string) []string {
	var all []string
	for ; name != "" && !slices.Contains(all, name); name = users[name] {
		all = append(all, name)
	}
	slices.Reverse(all)
	return all
}

// Programs that import the engine link few other modules.
func TestEngineLinksLittle(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	if len(packages) > 400 || len(modules) > 32 || len(modules) < 2 {
		t.Errorf("it links %d packages of %d modules: %s", len(packages), len(modules), strings.Join(modules, "\n"))
	}
}
