//go:build !js

package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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
	"github.com/spf13/pflag"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/cluster"
	"github.com/podverdict/podverdict/cmd/podverdict/internal/playground"
)

// playgroundOptions are the flags of playground.
type playgroundOptions struct {
	listen  string
	cluster bool
	source  source         // with --cluster
	only    *pflag.FlagSet // the flags that go with --cluster alone
	live    io.Writer      // standard output: the address is of use while the page is served
}

func newPlayground(live io.Writer) *cobra.Command {
	o := playgroundOptions{live: live, only: pflag.NewFlagSet("", pflag.ContinueOnError)}
	cmd := &cobra.Command{
		Use:   "playground [FOLDER | FILE.zip]",
		Short: "Serve the page that runs podverdict in a browser",
		Long: `Serve the page that runs podverdict in a browser, until it is interrupted, and
print its address. The page is a folder, as "make playground" builds it, or
podverdict-playground_VERSION.zip of the release, which is found without being
named when it is beside this program. All work is done in the browser: nothing
that is written there reaches this program or anybody else.

Only programs on this machine reach the page, unless --listen says otherwise.

With --cluster, the page shows the Jobs of a cluster, with what happens to them
next and the verdict on each failed Pod, and opens them in its editor. It only
reads, as you: Jobs, Pods, custom policies, and labels of namespaces. The
address has a token, and only those who know it see the Jobs. Without -A, the
Jobs are those of one namespace.

The kubeconfig and kubectl's flags for it are those of "podverdict eval", but
for kubectl's own --cluster: choose by --context.`,
		Example: `  podverdict playground playground/dist
  podverdict playground podverdict-playground_0.1.0.zip --listen 127.0.0.1:8080
  podverdict playground --cluster -n batch
  podverdict playground --cluster -A -l team=data`,
		Args: cobra.ArbitraryArgs,
		RunE: verb(&o, servePlayground),
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "address to serve at; port 0 is any that is free")
	cmd.Flags().BoolVar(&o.cluster, "cluster", false, "show the Jobs of a cluster, too")
	o.only.StringVarP(&o.source.files.Namespace, "namespace", "n", "", "namespace to read from (default that of the kubeconfig)")
	o.source.addClusterFlags(o.only)
	cmd.Flags().AddFlagSet(o.only) // without kubectl's flag --cluster, whose name is taken
	addCompletion(cmd, "namespace", o.source.namespaces)
	addCompletion(cmd, "context", func() []string {
		contexts, _, _ := o.source.connection.Kubeconfig()
		return contexts
	})
	return cmd
}

// servePlayground serves the page until a signal ends it.
func servePlayground(ctx context.Context, c *console, o *playgroundOptions, args []string) error {
	files, err := o.page(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	handler, fragment := playground.Page(files), ""
	if o.cluster {
		jobs, err := o.connect(ctx, c)
		if err != nil {
			return err
		}
		token := rand.Text()
		handler = playground.Live(files, playground.Source{List: jobs.list, Job: jobs.stream}, token)
		fragment = "#cluster=" + token
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if _, err := fmt.Fprintf(o.live, "http://%s/%s\n", listener.Addr(), fragment); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// page returns the files of the page, after a check of the flags.
func (o *playgroundOptions) page(args []string) (fs.FS, error) {
	var alone string
	o.only.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !o.cluster {
			alone = cmp.Or(alone, flag.Name)
		}
	})
	switch {
	case alone != "":
		return nil, usagef("--%s is for Jobs of a cluster: give --cluster, too", alone)
	case len(args) > 1:
		return nil, usagef("playground serves one page, and there are %d arguments", len(args))
	case len(args) == 1:
		return playground.Open(args[0])
	}
	beside := besideProgram()
	if _, err := os.Stat(beside); err != nil {
		return nil, usagef("no page: give the folder that make playground builds, or podverdict-playground_VERSION.zip of\n" +
			"https://github.com/podverdict/podverdict/releases, which is not beside this program")
	}
	return playground.Open(beside)
}

// besideProgram returns where the page of this version is, if it is beside the program, behind links.
func besideProgram() string {
	program, err := os.Executable()
	if err != nil {
		program = ""
	} else if target, err := filepath.EvalSymlinks(program); err == nil {
		program = target
	}
	return filepath.Join(filepath.Dir(program), "podverdict-playground_"+strings.TrimPrefix(readVersion().Version, "v")+".zip")
}

// open listens. Jobs of a cluster are served to this machine alone.
func (o *playgroundOptions) open(ctx context.Context) (net.Listener, error) {
	address, err := net.ResolveTCPAddr("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if o.cluster && !address.IP.IsLoopback() {
		return nil, usagef("--listen %s: others could reach it: with --cluster give 127.0.0.1 or localhost, and a port", o.listen)
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address.String())
}

// connect returns the Jobs of the cluster. They are read once, so that what is wrong with that ends the verb.
func (o *playgroundOptions) connect(ctx context.Context, c *console) (*liveJobs, error) {
	o.source.query.Targets = []cluster.Target{{Kind: cluster.Job}}
	if err := o.source.query.Check(); err != nil {
		return nil, usageError{err}
	}
	client, shown, err := o.source.connect(c)
	if err != nil {
		return nil, err
	}
	jobs := &liveJobs{client: client, query: o.source.query}
	_, err = jobs.read(ctx)
	shown.end()
	client.Progress = func(int) {} // later reads are the browser's
	if err == nil && len(jobs.last.families) == 0 && !jobs.query.AllNamespaces {
		err = client.CheckNamespace(ctx)
	}
	return jobs, err
}
