package main

import (
	"bytes"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/registry"
)

// index returns what the OCI layout has with a tag.
func (m made) index(t *testing.T, tag string) v1.ImageIndex {
	t.Helper()
	all, err := layout.ImageIndexFromPath(m.file("oci"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(manifest.Manifests, func(d v1.Descriptor) bool { return d.Annotations["org.opencontainers.image.ref.name"] == tag })
	if n < 0 {
		t.Fatalf("%s is not among %+v", tag, manifest.Manifests)
	}
	index, err := all.ImageIndex(manifest.Manifests[n].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func (m made) imagesAreWhole(t *testing.T) {
	for _, program := range []string{cli, controller} {
		index := m.index(t, program+":v0.1.0")
		if err := validate.Index(index); err != nil {
			t.Error(err)
		}
		platforms, err := index.IndexManifest()
		if err != nil || len(platforms.Manifests) != 1 || platforms.Manifests[0].Platform.Architecture != m.p.arch {
			t.Fatalf("%+v: %v", platforms, err)
		}
		image, err := index.Image(platforms.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		isWhole(t, image, program)
	}
}

// isWhole runs what an image starts, and reads its certificates as Go does.
func isWhole(t *testing.T, image v1.Image, program string) {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Config.User != "65532:65532" || !slices.Equal(file.Config.Entrypoint, []string{"/" + program}) {
		t.Errorf("the configuration is %+v", file.Config)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), "tar", "-x")
		command.Dir, command.Stdin = folder, content
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	execute(t, folder, "."+file.Config.Entrypoint[0], "--help")
	if text, err := os.ReadFile(filepath.Join(folder, thirdParty)); err != nil || !strings.Contains(string(text), "\nk8s.io/api v") {
		t.Errorf("%s has %d bytes of licenses: %v", program, len(text), err)
	}
	certificates, err := os.ReadFile(folder + "/etc/ssl/certs/ca-certificates.crt")
	if err != nil {
		t.Fatal(err)
	}
	// ISRG Root X1 is that of Let's Encrypt.
	pool, found := x509.NewCertPool(), strings.Count(string(certificates), "BEGIN CERTIFICATE")
	if !pool.AppendCertsFromPEM(certificates) || found < 100 || !slices.ContainsFunc(pool.Subjects(), func(s []byte) bool { return bytes.Contains(s, []byte("ISRG Root X1")) }) { //nolint:staticcheck // the pool is of one file
		t.Errorf("there are %d authorities", found)
	}
}

// imagesHaveBills asks a registry what is known about each image.
func (m made) imagesHaveBills(t *testing.T, images string) {
	t.Helper()
	for _, program := range []string{cli, controller} {
		platforms, err := m.index(t, program+":v0.1.0").IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		repository, err := name.NewRepository(images + "/" + program)
		if err != nil {
			t.Fatal(err)
		}
		about, err := remote.Referrers(repository.Digest(platforms.Manifests[0].Digest.String()))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := about.IndexManifest()
		if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].ArtifactType != "application/vnd.cyclonedx+json" {
			t.Fatalf("%+v: %v", manifest, err)
		}
		at := repository.Digest(manifest.Manifests[0].Digest.String())
		if !strings.Contains(m.read(t, "pushed.txt"), at.String()+"\n") {
			t.Errorf("%s is not signed", at)
		}
		bill, err := remote.Image(at)
		if err != nil {
			t.Fatal(err)
		}
		names := modules(t, bill)
		for _, want := range []string{"std", "k8s.io/api", rootsModule} {
			if !slices.Contains(names, want) {
				t.Errorf("the bill of %s does not have %s", program, want)
			}
		}
	}
}

func modules(t *testing.T, image v1.Image) (names []string) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	content, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	var bill cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(content, cyclonedx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	for _, component := range *bill.Components {
		names = append(names, component.Name)
	}
	return names
}

// isPulled: helm install oci://... gets the file of the release.
func (m made) isPulled(t *testing.T, images string) {
	t.Helper()
	client, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptCredentialsFile(filepath.Join(t.TempDir(), "config.json")))
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(images + "/charts/podverdict:0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if string(pulled.Chart.Data) != m.read(t, "podverdict-0.1.0.tgz") {
		t.Error("the chart is another one")
	}
	chart, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chart.Metadata, pulled.Chart.Meta); diff != "" {
		t.Errorf("the configuration is not Chart.yaml:\n%s", diff)
	}
}
