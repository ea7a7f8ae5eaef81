//go:build !js

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// playgroundOptions are the flags of playground.
type playgroundOptions struct {
	listen string
	live   io.Writer // standard output: the address is of use while the page is served
}

func newPlayground(live io.Writer) *cobra.Command {
	o := playgroundOptions{live: live}
	cmd := &cobra.Command{
		Use:   "playground FOLDER",
		Short: "Serve the page that runs podverdict in a browser",
		Long: `Serve the page that runs podverdict in a browser, until it is interrupted, and
print its address. FOLDER is what "make playground" builds. All work is done in
the browser: nothing that is written there reaches this program or anybody else.

Only programs on this machine reach the page, unless --listen says otherwise.`,
		Example: `  podverdict playground playground/dist
  podverdict playground playground/dist --listen 127.0.0.1:8080`,
		Args: cobra.ArbitraryArgs,
		RunE: verb(&o, servePlayground),
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "address to serve at; port 0 is any that is free")
	return cmd
}

// servePlayground serves the page until a signal ends it.
func servePlayground(ctx context.Context, _ *console, o *playgroundOptions, args []string) error {
	if len(args) != 1 {
		return usagef("playground serves one folder: give the one that make playground builds")
	}
	files := os.DirFS(args[0])
	for _, name := range []string{"index.html", "engine.wasm"} {
		if _, err := fs.Stat(files, name); err != nil {
			return fmt.Errorf("%s: there is no %s in it: give the folder that make playground builds", args[0], name)
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: page(files), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if _, err := fmt.Fprintf(o.live, "http://%s/\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// page answers with files, compressed by brotli where there is such a file and the browser takes it.
func page(files fs.FS) http.Handler {
	plain := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		small, err := fs.Stat(files, name+".br")
		if name == "" || err != nil || small.IsDir() || !strings.Contains(r.Header.Get("Accept-Encoding"), "br") {
			plain.ServeHTTP(w, r)
			return
		}
		types := map[string]string{".wasm": "application/wasm", ".js": "text/javascript; charset=utf-8"}
		w.Header().Set("Content-Type", types[path.Ext(name)])
		w.Header().Set("Content-Encoding", "br")
		w.Header().Set("Vary", "Accept-Encoding")
		http.ServeFileFS(w, r, files, name+".br") //nolint:gosec // fs.FS has no names outside of it
	})
}
