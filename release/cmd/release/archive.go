package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// member is a file of an archive or a package.
type member struct {
	name string // with slashes
	path string // where its content is
	mode fs.FileMode
}

// writeArchives writes podverdict for each platform, and the controller for Linux.
func (r *release) writeArchives(context.Context) error {
	for _, p := range r.platforms {
		if err := r.writeArchive(r.archive(p, cli), r.members(p)); err != nil {
			return err
		}
		if p.os != "linux" {
			continue
		}
		if err := r.writeArchive(r.archive(p, controller), r.licensed(p, controller)); err != nil {
			return err
		}
	}
	return nil
}

// archive returns the name of a program's archive for a platform.
func (r *release) archive(p platform, name string) string {
	if p.os == "windows" {
		return r.file("%s_%s_%s.zip", name, r.version, p)
	}
	return r.file("%s_%s_%s.tar.gz", name, r.version, p)
}

// licensed returns a program with its licenses.
func (r *release) licensed(p platform, name string) []member {
	return []member{
		{p.program(name), r.binary(p, name), 0o755}, {"LICENSE", filepath.Join(r.source, "LICENSE"), 0o644}, {thirdParty, r.licenses(p, name), 0o644},
	}
}

// members returns what the archive of podverdict has.
func (r *release) members(p platform) []member {
	members := r.licensed(p, cli)
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		members = append(members, member{name, filepath.Join(r.source, name), 0o644})
	}
	return append(members, r.documents()...)
}

// writeArchive writes an archive whose bytes depend on the members alone.
func (r *release) writeArchive(name string, members []member) error {
	return create(name, func(out io.Writer) error {
		if path.Ext(name) == ".zip" {
			return r.writeZip(out, members)
		}
		return writeTar(out, members, r.time)
	})
}

// write writes a file that others may read: what a release has is public.
func write(name string, content []byte) error {
	return create(name, func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
}

// create writes a file.
func create(name string, write func(io.Writer) error) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
	}()
	return write(file)
}

func writeTar(out io.Writer, members []member, when time.Time) error {
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	for _, m := range members {
		content, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		header := tar.Header{Typeflag: tar.TypeReg, Name: m.name, Size: int64(len(content)), Mode: int64(m.mode), ModTime: when, Format: tar.FormatPAX}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func (r *release) writeZip(out io.Writer, members []member) error {
	archive := zip.NewWriter(out)
	for _, m := range members {
		content, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		header := zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: r.time}
		header.SetMode(m.mode)
		file, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := file.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}
