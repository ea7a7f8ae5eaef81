package structure

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFolderNamesSayWhatIsInside(t *testing.T) {
	for _, file := range sources(t) {
		for folder := range strings.SplitSeq(path.Dir(file.path), "/") {
			if slices.Contains([]string{"pkg", "util", "utils", "common", "helper", "helpers", "misc", "shared"}, folder) {
				t.Errorf("%s: folder %q says nothing about what is inside", file.path, folder)
			}
		}
	}
}

func TestNothingImportsCommands(t *testing.T) {
	for _, file := range sources(t) {
		for _, imported := range file.imports {
			if within(imported, module+"/cmd") && !within(file.path, "cmd") {
				t.Errorf("%s imports %s: nothing may import cmd", file.path, imported)
			}
		}
	}
}

func TestOneRuntimeAFile(t *testing.T) {
	for _, file := range sources(t) {
		if slices.Contains(file.imports, module+"/runtime") && slices.Contains(file.imports, "k8s.io/apimachinery/pkg/runtime") {
			t.Errorf("%s imports both our runtime and apimachinery's: split it", file.path)
		}
	}
}

// source is a Go file of any of the repository's modules, including tests.
type source struct {
	path    string // path relative to the root, with slashes
	imports []string
}

// sources reads the files instead of calling go list, because nested modules are included and must not be downloaded for this.
func sources(t *testing.T) []source {
	t.Helper()
	var files []source
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || name == "bin"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		files = append(files, source{path: name, imports: importsOf(t, name)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 2 {
		t.Fatalf("%d Go files found in the repository", len(files))
	}
	return files
}

func importsOf(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports = append(imports, imported)
	}
	return imports
}
