package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// home is where the source is. GitHub shows the images there.
const home = "https://github.com/podverdict/podverdict"

// user is nobody's account on the nodes; the Deployment of package config has the same.
const user = "65532:65532"

// writeImages writes an index for each program, with an image for each platform of Linux, and pushes them when that is asked for.
// An image has the program, which is static, and the certificates of public authorities: there is no base that would need updates.
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
	if err := write(filepath.Join(r.work, "ca-certificates.crt"), authorities()); err != nil {
		return err
	}
	for _, program := range []string{cli, controller} {
		index, bills, err := r.index(program, targets)
		if err != nil {
			return err
		}
		digest, err := r.store(ctx, program, "v"+r.version, index)
		if err != nil {
			return err
		}
		if program == controller {
			r.digest = digest.String()
		}
		for _, bill := range bills {
			if _, err := r.store(ctx, program, "", bill); err != nil {
				return err
			}
		}
	}
	return nil
}

// index returns the images of a program, and their bills of materials.
func (r *release) index(program string, targets []platform) (index v1.ImageIndex, bills []v1.Image, err error) {
	index = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range targets {
		image, err := r.image(program, p)
		if err != nil {
			return nil, nil, err
		}
		bill, err := r.imageBill(program, p, image)
		if err != nil {
			return nil, nil, err
		}
		bills = append(bills, bill)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	return index, bills, nil
}

func (r *release) image(program string, p platform) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: r.time.UTC()}
	for _, content := range []struct {
		members []member
		by      string
	}{
		{[]member{{"etc/ssl/certs/ca-certificates.crt", filepath.Join(r.work, "ca-certificates.crt"), 0o644}}, rootsModule},
		{r.licensed(p, program), "go build ./cmd/" + program},
	} {
		var archive bytes.Buffer
		if err := writeTar(&archive, content.members, r.time); err != nil {
			return nil, err
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
		layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: content.by}})
		if err != nil {
			return nil, err
		}
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
			"org.opencontainers.image.source":   home,
			"org.opencontainers.image.version":  "v" + r.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return file
}

// rootsModule has the authorities that Mozilla trusts, as Go's project keeps them.
const rootsModule = "golang.org/x/crypto/x509roots/fallback"

// authorities returns the certificates in PEM. An authority that is trusted for older certificates only is left out, for PEM cannot say so.
func authorities() []byte {
	var certificates []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			certificates = append(certificates, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return certificates
}
