// Quick tests, in short form, what a change can break: the packages that have files which differ from a commit, and the packages
// that import them. It vets what differs, and what it does not test.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the repository's root")
	base := flag.String("base", "HEAD", "the commit that files are compared with")
	flag.Parse()
	if err := run(*root, *base); err != nil {
		fmt.Fprintln(os.Stderr, "quick:", err)
		os.Exit(1)
	}
}

func run(root, base string) error {
	changed, err := changedFolders(root, base)
	if err != nil {
		return err
	}
	packages, err := listPackages(root)
	if err != nil {
		return err
	}
	vetted, tested := affected(packages, changed)
	if len(vetted) == 0 {
		fmt.Println("no package differs from", base)
		return nil
	}
	if err := command(root, append([]string{"go", "vet", "-tags=cluster"}, vetted...)); err != nil || len(tested) == 0 {
		return err
	}
	// Without symbols for debuggers, a test is linked in two thirds of the time.
	return command(root, append([]string{"go", "test", "-short", "-vet=off", "-ldflags=-s"}, tested...))
}

// changedFolders returns the folders of files that differ from a commit, from the root, and the folders above them: the files
// of testdata belong to the package around them.
func changedFolders(root, base string) (map[string]bool, error) {
	folders := map[string]bool{}
	for _, arguments := range [][]string{{"diff", "--name-only", base}, {"ls-files", "--others", "--exclude-standard"}} {
		output, err := output(root, "git", arguments...)
		if err != nil {
			return nil, err
		}
		for name := range strings.FieldsSeq(string(output)) {
			folder := path.Dir(name)
			for folders[folder] = true; strings.Contains(folder, "testdata"); folders[folder] = true {
				folder = path.Dir(folder)
			}
		}
	}
	return folders, nil
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath string   `json:"ImportPath"`
	Dir        string   `json:"Dir"`
	Imports    []string `json:"Imports"`
	folder     string   // from the root
}

func listPackages(root string) ([]goPackage, error) {
	output, err := output(root, "go", "list", "-json=ImportPath,Dir,Imports", "./...")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if p.folder, err = filepath.Rel(root, p.Dir); err != nil {
			return nil, err
		}
		p.folder = filepath.ToSlash(p.folder)
		packages = append(packages, p)
	}
}

// affected returns the packages to vet and those to test. Programs, and the controller that puts the loops together, import
// everything and take longest: they are tested when their own files differ. Tests of conformance/cluster need a control plane,
// which short tests do without. What is not tested is vetted, so that it compiles.
func affected(packages []goPackage, changed map[string]bool) (vetted, tested []string) {
	differs := map[string]bool{}
	for _, p := range packages {
		differs[p.ImportPath] = changed[p.folder]
	}
	for _, p := range packages {
		own := differs[p.ImportPath]
		if !own && !slices.ContainsFunc(p.Imports, func(imported string) bool { return differs[imported] }) {
			continue
		}
		whole := strings.HasPrefix(p.folder, "cmd/") || p.folder == "controller"
		test := !strings.HasPrefix(p.folder, "conformance/cluster") && (own || !whole)
		if test {
			tested = append(tested, p.ImportPath)
		}
		if own || !test {
			vetted = append(vetted, p.ImportPath)
		}
	}
	return vetted, tested
}

func output(folder, name string, arguments ...string) ([]byte, error) {
	command := exec.Command(name, arguments...) //nolint:gosec,noctx // git and go
	command.Dir, command.Stderr = folder, os.Stderr
	return command.Output()
}

// command runs a command whose output people see.
func command(folder string, words []string) error {
	fmt.Println("+", strings.Join(words[:min(4, len(words))], " "), "...")
	command := exec.Command(words[0], words[1:]...) //nolint:gosec,noctx // go vet and go test
	// Compiler, linker and short tests are small: with more garbage they take a sixth less time.
	command.Env = append(command.Environ(), "GOGC=400")
	command.Dir, command.Stdout, command.Stderr = folder, os.Stdout, os.Stderr
	return command.Run()
}
