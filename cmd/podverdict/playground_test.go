package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestPageIsCompressedForThoseWhoTakeIt(t *testing.T) {
	files := fstest.MapFS{
		"index.html":     {Data: []byte("<p>page")},
		"engine.wasm":    {Data: []byte("plain")},
		"engine.wasm.br": {Data: []byte("small")},
	}
	for _, c := range []struct{ path, accepts, body, kind string }{
		{"/", "br", "<p>page", "text/html; charset=utf-8"},
		{"/engine.wasm", "gzip, br", "small", "application/wasm"},
		{"/engine.wasm", "gzip", "plain", "application/wasm"},
	} {
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodGet, c.path, nil)
		request.Header.Set("Accept-Encoding", c.accepts)
		page(files).ServeHTTP(recorder, request)
		if got := recorder.Body.String(); got != c.body || recorder.Header().Get("Content-Type") != c.kind {
			t.Errorf("GET %s with %s: %q as %q, want %q as %q", c.path, c.accepts, got, recorder.Header().Get("Content-Type"), c.body, c.kind)
		}
	}
}

func TestPlaygroundIsServedUntilItEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan error)
	go func() {
		done <- servePlayground(ctx, nil, &playgroundOptions{listen: "127.0.0.1:0", live: write}, []string{pageFolder(t)})
	}()
	address, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSpace(address), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// pageFolder returns a folder with the files that a page must have.
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
