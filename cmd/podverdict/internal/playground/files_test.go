package playground_test

import (
	"archive/zip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
)

var pageFiles = map[string]string{
	"index.html": "<p>page", "engine.wasm": "plain", "engine.wasm.br": "small", "page-licenses.txt": "licences", "odd": "odd",
}

// asFolder and asZip write a page and return the argument for Open.
func asFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func asZip(t *testing.T, files map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "page.zip")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(out)
	for file, text := range files {
		member, err := archive.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func open(t *testing.T, name string) fs.FS {
	t.Helper()
	files, err := playground.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPageIsServedFromFolderAndZip(t *testing.T) {
	for kind, name := range map[string]string{"folder": asFolder(t, pageFiles), "zip": asZip(t, pageFiles)} {
		handler := playground.Page(open(t, name))
		for _, c := range []struct {
			path, accepts, ranges string
			status                int
			body, contentType     string
		}{
			{"/", "br", "", 200, "<p>page", "text/html; charset=utf-8"},
			{"/engine.wasm", "gzip, br", "", 200, "small", "application/wasm"},
			{"/engine.wasm", "gzip", "", 200, "plain", "application/wasm"},
			{"/engine.wasm", "gzip", "bytes=2-3", 200, "plain", "application/wasm"},
			{"/page-licenses.txt", "br", "", 200, "licences", "text/plain; charset=utf-8"},
			{"/odd", "br", "", 200, "odd", "application/octet-stream"},
			{"/none", "br", "", 404, "404 page not found\n", "text/plain; charset=utf-8"},
			{"/../files_test.go", "br", "", 404, "404 page not found\n", "text/plain; charset=utf-8"},
		} {
			recorder := httptest.NewRecorder()
			request := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
			request.URL.Path = c.path
			request.Header.Set("Accept-Encoding", c.accepts)
			if c.ranges != "" {
				request.Header.Set("Range", c.ranges)
			}
			handler.ServeHTTP(recorder, request)
			got, contentType := recorder.Body.String(), recorder.Header().Get("Content-Type")
			if recorder.Code != c.status || got != c.body || contentType != c.contentType {
				t.Errorf("%s: GET %s with %s: %d %q as %q, want %d %q as %q", kind, c.path, c.accepts, recorder.Code, got, contentType, c.status, c.body, c.contentType)
			}
		}
	}
}

func TestOtherFilesAreNoPage(t *testing.T) {
	text := filepath.Join(asFolder(t, map[string]string{"job.yaml": "kind: Job"}), "job.yaml")
	for name, want := range map[string]string{
		"nowhere": "nowhere: no such file or directory",
		text:      text + ": zip: not a valid zip file",
		asZip(t, map[string]string{"dist/index.html": "", "dist/engine.wasm": ""}): "there is no index.html in it",
		asFolder(t, map[string]string{"index.html": ""}):                           "there is no engine.wasm in it",
	} {
		if _, err := playground.Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
