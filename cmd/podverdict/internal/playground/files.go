package playground

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
)

// needed are files without which a folder is no page.
var needed = []string{"index.html", "engine.wasm"}

// Open returns the files of a page: those of a folder, or those in a zip file, which stays open until the program ends.
func Open(name string) (fs.FS, error) {
	files, err := open(name)
	if err != nil {
		return nil, err
	}
	for _, file := range needed {
		if _, err := fs.Stat(files, file); err != nil {
			return nil, fmt.Errorf("%s: there is no %s in it: is it the page?", name, file)
		}
	}
	return files, nil
}

func open(name string) (fs.FS, error) {
	found, err := os.Stat(name)
	if err != nil {
		wrapped, _ := errors.AsType[*fs.PathError](err)
		return nil, fmt.Errorf("%s: %w", name, wrapped.Err)
	}
	if found.IsDir() {
		return os.DirFS(name), nil
	}
	files, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return files, nil
}

// types are the content types of the page's files: what an operating system says of them varies.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".json": "application/json", ".wasm": "application/wasm",
}

// Page answers with files, compressed by brotli where there is such a file and the browser takes it.
func Page(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		if !isFile(files, name) {
			http.NotFound(w, r)
			return
		}
		kind, known := types[path.Ext(name)]
		if !known {
			kind = "application/octet-stream" // a guess would need to read the file twice, which those in a zip file cannot
		}
		w.Header().Set("Content-Type", kind)
		if isFile(files, name+".br") {
			w.Header().Set("Vary", "Accept-Encoding")
			if strings.Contains(r.Header.Get("Accept-Encoding"), "br") {
				w.Header().Set("Content-Encoding", "br")
				name += ".br"
			}
		}
		whole := r.Clone(r.Context())
		whole.Header.Del("Range")               // files in a zip file have no places to jump to
		http.ServeFileFS(w, whole, files, name) //nolint:gosec // fs.FS has no names outside of it
	})
}

// isFile reports whether files have a file of a name, and no folder.
func isFile(files fs.FS, name string) bool {
	found, err := fs.Stat(files, name)
	return err == nil && found.Mode().IsRegular()
}
