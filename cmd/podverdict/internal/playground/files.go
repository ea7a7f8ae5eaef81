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

// needed are the files that a page must contain.
var needed = []string{"index.html", "engine.wasm"}

// Open returns the files of a page in a folder or a zip file. The zip file remains open until the program ends.
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

// types are the content types of the page's files. They are fixed because the types known to operating systems differ.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".json": "application/json", ".wasm": "application/wasm",
}

// Page serves files. It serves the brotli-compressed variant if it exists and the browser accepts it.
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
			kind = "application/octet-stream" // sniffing would need to seek, which files in a zip file do not support
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
		whole.Header.Del("Range")               // files in a zip file do not support seeking
		http.ServeFileFS(w, whole, files, name) //nolint:gosec // fs.FS has no names outside of it
	})
}

// isFile reports whether name is a regular file.
func isFile(files fs.FS, name string) bool {
	found, err := fs.Stat(files, name)
	return err == nil && found.Mode().IsRegular()
}
