// Affected prints the packages of the main module that differ from a commit, and the packages that import them: the
// packages that make quick tests, or with -vet the packages that it vets.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	base := flag.String("base", "HEAD", "the commit to compare with")
	vet := flag.Bool("vet", false, "print the packages to vet instead of those to test")
	flag.Parse()
	if err := run(*base, *vet); err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
}

func run(base string, vet bool) error {
	changed, err := lines("git", "diff", "--name-only", base)
	if err != nil {
		return err
	}
	added, err := lines("git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	module, err := lines("go", "list", "-m")
	if err != nil {
		return err
	}
	packages, err := lines("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	if err != nil {
		return err
	}
	for _, p := range affected(module[0], packages, append(changed, added...), vet) {
		fmt.Println(p)
	}
	return nil
}

// lines runs a program in the main module and returns the lines of its output.
func lines(program string, arguments ...string) ([]string, error) {
	command := exec.Command(program, arguments...) //nolint:gosec,noctx // Ctrl-C ends git and go, too
	command.Dir, command.Stderr = "..", os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// affected returns the packages to vet or to test after changes to files. Each element of packages is an import path
// followed by the imports of the package.
func affected(module string, packages, files []string, vet bool) []string {
	differs := map[string]bool{}
	for _, file := range files {
		differs[path.Join(module, folder(file))] = true
	}
	var all []string
	for _, line := range packages {
		p, imports, _ := strings.Cut(line, " ")
		own := differs[p]
		imported := slices.ContainsFunc(strings.Fields(imports), func(i string) bool { return differs[i] })
		if (own || imported) && (vet || tested(strings.TrimPrefix(p, module+"/"), own)) {
			all = append(all, p)
		}
	}
	return all
}

// folder returns the folder of a file. Test data belongs to the package around it.
func folder(file string) string {
	outer, _, _ := strings.Cut(path.Dir(file), "/testdata")
	return outer
}

// tested reports whether the tests of a package are quick enough. Programs, and the controller that connects the
// loops, import nearly everything, so they are tested only if their own files differ. Tests of conformance/cluster
// need a control plane.
func tested(folder string, own bool) bool {
	program := folder == "controller" || strings.HasPrefix(folder, "cmd/")
	return !strings.HasPrefix(folder, "conformance/cluster") && (own || !program)
}
