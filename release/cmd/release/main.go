package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	source     string // the folder of the repository
	out        string
	platforms  []platform
	images     string // where images are pushed to, as in ghcr.io/podverdict
	push       bool
	key        string // a file with the private key that signs checksums.txt
	playground string // the folder of the playground; "" leaves it out
	dirty      bool   // take a work tree with changes, for tests
}

// run makes the release.
func run(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "podverdict-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r, err := newRelease(ctx, o, work)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		r.build, r.writeLicenses, r.writeDocuments, r.writeArchives, r.writeBills, r.writePackages, r.writeImages, r.writeChart, r.writeGenerated, r.writePlayground,
		r.writeFormula, r.writeKrew, r.writeNotes, r.writePushed, r.writeChecksums,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func parse(arguments []string) (options, error) {
	o := options{}
	platforms := ""
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.source, "source", "..", "folder of the repository")
	flags.StringVar(&o.out, "o", "../dist", "folder for the files; it must be empty or absent")
	flags.StringVar(&platforms, "platforms", strings.Join(allPlatforms, ","), "what to build for")
	flags.StringVar(&o.images, "images", "", "registry and path that images are pushed to, as in ghcr.io/podverdict")
	flags.BoolVar(&o.push, "push", false, "push the images")
	flags.StringVar(&o.key, "key", "", "PEM file of the private key that signs checksums.txt; COSIGN_PASSWORD decrypts it")
	flags.StringVar(&o.playground, "playground", "", "folder that make playground has built, to be part of the release")
	flags.BoolVar(&o.dirty, "dirty", false, "also build what is not committed")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.push && o.images == "" {
		return o, errors.New("-push: say where to with -images")
	}
	for name := range strings.SplitSeq(platforms, ",") {
		p, err := parsePlatform(name)
		if err != nil {
			return o, err
		}
		o.platforms = append(o.platforms, p)
	}
	return o, nil
}
