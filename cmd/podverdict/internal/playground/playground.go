package playground

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cli"
)

type playgroundOptions struct {
	listen string
}

// New returns the playground command.
func New(p *cli.Program) *cobra.Command {
	var o playgroundOptions
	cmd := &cobra.Command{
		Use:   "playground [FOLDER | FILE.zip]",
		Short: "Serve the page that runs podverdict in a browser",
		Long: `Serve the page that runs podverdict in a browser, until it is interrupted, and
print its address. The page is a folder, as "make playground" builds it, or
podverdict-playground_VERSION.zip of the release, which is found without being
named when it is beside this program. All work is done in the browser: nothing
that is written there reaches this program or anybody else.

Only programs on this machine reach the page, unless --listen says otherwise.`,
		Example: `  podverdict playground playground/dist
  podverdict playground podverdict-playground_0.1.0.zip --listen 127.0.0.1:8080`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.Run(p, &o, servePlayground),
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "address to serve at; port 0 is any that is free")
	return cmd
}

// servePlayground serves the page until interrupted by a signal.
func servePlayground(ctx context.Context, c *cli.Console, o *playgroundOptions, args []string) error {
	files, err := page(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return cli.FlagError("listen", err)
	}
	defer listener.Close()
	server := &http.Server{Handler: Page(files), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if _, err := fmt.Fprintf(c.Live, "http://%s/\n", listener.Addr()); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func page(args []string) (fs.FS, error) {
	switch len(args) {
	case 0:
	case 1:
		return Open(args[0])
	default:
		return nil, cli.Usagef("playground serves one page, and there are %d arguments", len(args))
	}
	beside := BesideProgram()
	if _, err := os.Stat(beside); err != nil {
		return nil, cli.Usagef("no page: give the folder that make playground builds, or podverdict-playground_VERSION.zip of\n" +
			"https://github.com/podverdict/podverdict/releases, which is not beside this program")
	}
	return Open(beside)
}

// BesideProgram returns the path of the page of this version in the program's folder, with symbolic links to the program
// resolved.
func BesideProgram() string {
	program, err := os.Executable()
	if err != nil {
		program = ""
	} else if target, err := filepath.EvalSymlinks(program); err == nil {
		program = target
	}
	return filepath.Join(filepath.Dir(program), "podverdict-playground_"+strings.TrimPrefix(cli.ReadBuild().Version, "v")+".zip")
}
