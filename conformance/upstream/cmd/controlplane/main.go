// Command controlplane builds the binaries of a Kubernetes control plane, kubectl, and kwok, which simulates the nodes,
// from the modules that its own module requires (and for kwok, the module in its folder kwok), for tests:
//
//	go run ./cmd/controlplane -o ../../.cache/control-plane
//
// They are written to a subfolder of the given folder, named after the Kubernetes version. Binaries built from the same
// modules with the same flags are kept, and an interrupted build keeps the previous ones. With -release v1.34.4, the API
// server and the controllers are from that release, and the other binaries are shared with the release that the module
// requires. If KUBEBUILDER_ASSETS names a folder, the tests use that one: it is checked for the binaries, and nothing is
// built.
//
// The exit code is 1 if a binary is missing in the end, and 2 for an invalid command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	os.Exit(interruptible(os.Args[1:]))
}

// interruptible runs the command until it ends or is interrupted, and returns its exit code.
func interruptible(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return controlplane(ctx, args, os.Stdout, os.Stderr)
}

func controlplane(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("controlplane", flag.ContinueOnError)
	flags.SetOutput(stderr)
	folder := flags.String("o", "", "folder for the folders of each version")
	release := flags.String("release", "", "another release of Kubernetes, as in v1.34.4")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *folder == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "controlplane: -o is required, and there are no arguments")
		return 2
	}
	if err := provide(ctx, *folder, *release, stdout); err != nil {
		fmt.Fprintf(stderr, "controlplane: %v\n", err)
		return 1
	}
	return 0
}

// provide builds the binaries below the folder, or finds them in KUBEBUILDER_ASSETS.
func provide(ctx context.Context, folder, release string, stdout io.Writer) error {
	if given := os.Getenv("KUBEBUILDER_ASSETS"); given != "" {
		return check(given, stdout)
	}
	module, version, err := findModule(ctx)
	if err != nil {
		return err
	}
	own, err := makeFolder(folder, version)
	if err != nil {
		return err
	}
	for _, b := range binaries {
		kit, err := newToolkit(ctx, filepath.Join(module, b.module), version)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := provideOne(b, stdout, func() (string, error) { return kit.provide(ctx, b, own) }); err != nil {
			return err
		}
	}
	if release == "" || release == version {
		return nil
	}
	return provideRelease(ctx, module, own, folder, release, stdout)
}

// provideRelease builds the binaries of another release, and links the others.
func provideRelease(ctx context.Context, module, own, folder, release string, stdout io.Writer) error {
	folder, err := makeFolder(folder, release)
	if err != nil {
		return err
	}
	kit, err := newReleaseToolkit(ctx, module, folder, release)
	if err != nil {
		return err
	}
	for _, b := range binaries {
		err := provideOne(b, stdout, func() (string, error) {
			if b.released {
				return kit.provide(ctx, b, folder)
			}
			target := filepath.Join(folder, b.name)
			return "linked", errors.Join(os.RemoveAll(target), os.Link(filepath.Join(own, b.name), target))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// makeFolder returns the folder of a release.
func makeFolder(folder, version string) (string, error) {
	folder, err := filepath.Abs(filepath.Join(folder, version))
	if err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o750)
}

// provideOne prints the name of a binary, and how it was provided.
func provideOne(b binary, stdout io.Writer, provide func() (string, error)) error {
	fmt.Fprintf(stdout, "%-24s ", b.name)
	outcome, err := provide()
	if err != nil {
		fmt.Fprintln(stdout, "failed")
		return fmt.Errorf("%s: %w", b.name, err)
	}
	fmt.Fprintln(stdout, outcome)
	return nil
}

// check looks for the binaries in a folder of the user.
func check(folder string, stdout io.Writer) error {
	if !filepath.IsAbs(folder) {
		return fmt.Errorf("KUBEBUILDER_ASSETS=%s: must be absolute, as each package's tests run in its own folder", folder)
	}
	var missing []error
	for _, b := range binaries {
		info, err := os.Stat(filepath.Join(folder, b.name)) //nolint:gosec // the user's folder
		switch {
		case err != nil:
			missing = append(missing, err)
		case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
			missing = append(missing, fmt.Errorf("%s is not executable", filepath.Join(folder, b.name)))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("KUBEBUILDER_ASSETS=%s lacks binaries: %w", folder, errors.Join(missing...))
	}
	fmt.Fprintf(stdout, "nothing is built, as KUBEBUILDER_ASSETS=%s has all binaries\n", folder)
	return nil
}
