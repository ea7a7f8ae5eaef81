package playground

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

// start runs the command and returns its output.
func start(t *testing.T, args ...string) (address string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	verb := New(&cli.Program{Stdout: write})
	verb.SetArgs(append([]string{}, args...)) // nil would use the arguments of the test
	verb.SetErr(io.Discard)
	done := make(chan error)
	go func() {
		err := verb.ExecuteContext(ctx)
		_ = write.CloseWithError(err) // unblocks the reader if no address was printed
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	address, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

func TestPlaygroundIsServedUntilItEnds(t *testing.T) {
	if status, text := fetch(t, start(t, pageFolder(t))); status != http.StatusOK || text != "x" {
		t.Error(status, text)
	}
}

func TestPlaygroundIsFoundBesideTheProgram(t *testing.T) {
	zipPage(t, BesideProgram())
	if status, text := fetch(t, start(t)+"engine.wasm"); status != http.StatusOK || text != "x" {
		t.Error(status, text)
	}
}

// zipPage writes a page as a zip file, which is removed after the test.
func zipPage(t *testing.T, name string) {
	t.Helper()
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(name) })
	archive := zip.NewWriter(out)
	must(t, archive.AddFS(os.DirFS(pageFolder(t))))
	must(t, errors.Join(archive.Close(), out.Close()))
}

// fetch requests an address.
func fetch(t *testing.T, address string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// pageFolder returns a folder with the files that a page must contain.
func pageFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"index.html", "engine.wasm"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
