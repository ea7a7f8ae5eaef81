// Licenses prints the licenses of Go and of all modules that packages of the main module depend on.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, packages []string) error {
	root, err := goLines("env", "GOROOT")
	if err != nil {
		return err
	}
	const module = `{{with .Module}}{{with .Version}}{{$.Module.Dir}} {{$.Module.Path}} {{.}}{{end}}{{end}}`
	modules, err := goLines(append([]string{"list", "-deps", "-f", module}, packages...)...)
	if err != nil {
		return err
	}
	modules = append(modules, root[0]+" Go")
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		folder, name, _ := strings.Cut(module, " ")
		if err := write(out, os.DirFS(folder), name); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

// goLines runs go in the main module and returns the lines of its output.
func goLines(arguments ...string) ([]string, error) {
	command := exec.Command("go", arguments...) //nolint:gosec,noctx // Ctrl-C ends go, too
	command.Dir, command.Stderr = "..", os.Stderr
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), nil
}

var license = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying)`)

// write prints the licenses and notices of a module. It fails if the module has none.
func write(out io.Writer, folder fs.FS, module string) error {
	files, err := fs.ReadDir(folder, ".")
	if err != nil {
		return fmt.Errorf("%s: %w", module, err)
	}
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool { return !f.Type().IsRegular() || !license.MatchString(f.Name()) })
	if len(files) == 0 {
		return fmt.Errorf("%s: no license", module)
	}
	for _, f := range files {
		text, err := fs.ReadFile(folder, f.Name())
		if err != nil {
			return fmt.Errorf("%s: %w", module, err)
		}
		fmt.Fprintf(out, "%s, %s\n\n%s\n\n", module, f.Name(), text)
	}
	return nil
}
