package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is nobody's account on the nodes; the Deployment of package config has the same.
const user = "65532:65532"

// writeImages writes an index for each program, with an image for each platform of Linux, and pushes them when that is asked for.
// An image has one layer with the program, which is static: there is no base that would need updates.
func (r *release) writeImages(ctx context.Context) error {
	var targets []platform
	for _, p := range r.platforms {
		if p.os == "linux" {
			targets = append(targets, p)
		}
	}
	if len(targets) == 0 {
		return nil
	}
	folder := filepath.Join(r.out, "images")
	into, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	var pushed strings.Builder
	for _, program := range []string{cli, controller} {
		index, err := r.index(program, targets)
		if err != nil {
			return err
		}
		tag := map[string]string{"org.opencontainers.image.ref.name": program + ":v" + r.version}
		if err := into.AppendIndex(index, layout.WithAnnotations(tag)); err != nil {
			return err
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		if program == controller {
			r.digest = digest.String()
		}
		if r.push {
			if err := r.pushIndex(ctx, program, index); err != nil {
				return err
			}
			fmt.Fprintf(&pushed, "%s/%s@%s\n", r.images, program, digest)
		}
	}
	if !r.push {
		return nil
	}
	return write(r.file("images.txt"), []byte(pushed.String()))
}

// index returns the images of a program.
func (r *release) index(program string, targets []platform) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range targets {
		image, err := r.image(program, p)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	return index, nil
}

func (r *release) image(program string, p platform) (v1.Image, error) {
	var archive bytes.Buffer
	if err := writeTar(&archive, []member{{program, r.binary(p, program), 0o755}}, r.time); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: r.time.UTC()}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "go build ./cmd/" + program}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, r.configured(file.DeepCopy(), program, p, created))
}

// configured says what runs in an image, and as whom.
func (r *release) configured(file *v1.ConfigFile, program string, p platform, created v1.Time) *v1.ConfigFile {
	file.OS, file.Architecture, file.Created = p.os, p.arch, created
	file.Config = v1.Config{
		User: user, Entrypoint: []string{"/" + program}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.source":   "https://github.com/podverdict/podverdict",
			"org.opencontainers.image.version":  "v" + r.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return file
}

// pushIndex pushes an index by the credentials of docker login.
func (r *release) pushIndex(ctx context.Context, program string, index v1.ImageIndex) error {
	tag, err := name.NewTag(r.images+"/"+program+":v"+strings.ReplaceAll(r.version, "+", "-"), name.StrictValidation)
	if err != nil {
		return err
	}
	return remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}
