package main

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// writePackages writes podverdict for Debian and Fedora, and those that derive from them.
func (r *release) writePackages(context.Context) error {
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		for format, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
			info := nfpm.WithDefaults(r.packageInfo(p))
			if err := nfpm.PrepareForPackager(info, format); err != nil {
				return err
			}
			err := create(r.file("podverdict_%s_%s.%s", r.version, p, format), func(out io.Writer) error { return packager.Package(info, out) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) packageInfo(p platform) *nfpm.Info {
	info := &nfpm.Info{
		Name: cli, Platform: p.os, Arch: p.arch, Version: "v" + r.version, Section: "admin", Priority: "optional",
		Maintainer: "The podverdict authors <" + home + ">", Vendor: "podverdict", License: "Apache-2.0",
		Homepage:    home,
		Description: "What a failed Pod means for its Kubernetes Job, and why\npodverdict evaluates podFailurePolicies exactly as Kubernetes does.",
		MTime:       r.time,
	}
	info.RPM.BuildHost = "localhost"
	info.RPM.Summary = "What a failed Pod means for its Kubernetes Job, and why"
	for _, m := range r.members(p) {
		info.Contents = append(info.Contents, &files.Content{
			Source: m.path, Destination: installedAt(m.name), FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: m.mode, MTime: r.time},
		})
	}
	info.Contents = append(info.Contents, &files.Content{Source: "podverdict", Destination: "/usr/bin/kubectl-podverdict", Type: files.TypeSymlink})
	return info
}

// installedAt returns where Linux looks for a file of the archive.
func installedAt(name string) string {
	switch base := path.Base(name); {
	case name == cli, name == kubectlComplete:
		return "/usr/bin/" + name
	case strings.HasPrefix(name, "man/"):
		return "/usr/share/man/man1/" + base
	case base == shells["bash"]:
		return "/usr/share/bash-completion/completions/podverdict"
	case base == shells["zsh"]:
		return "/usr/share/zsh/site-functions/" + base
	case base == shells["fish"]:
		return "/usr/share/fish/vendor_completions.d/" + base
	default:
		return "/usr/share/doc/podverdict/" + base
	}
}
