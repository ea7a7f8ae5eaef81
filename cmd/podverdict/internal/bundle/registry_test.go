package bundle

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	disk "oras.land/oras-go/v2/content/file"
)

// serve starts a registry, whose answers may be changed on their way, and returns the start of references to it.
func serve(t *testing.T, change func(w http.ResponseWriter, r *http.Request, registry http.Handler)) string {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	plain := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change == nil {
			plain.ServeHTTP(w, r)
			return
		}
		change(w, r, plain)
	}))
	t.Cleanup(server.Close)
	return Scheme + strings.TrimPrefix(server.URL, "http://") + "/team/policies"
}

func TestPushAndPull(t *testing.T) {
	private, public := rsaFiles(t)
	to := serve(t, nil) + ":v1"
	b := build(t, Options{Key: private})
	pushed, err := b.Push(t.Context(), Registry{Reference: to})
	if err != nil {
		t.Fatal(err)
	}
	if len(pushed) != 2 || pushed[0].Reference != to || pushed[1].Reference != to+"-conftest" {
		t.Fatalf("pushed %+v", pushed)
	}
	again, err := b.Push(t.Context(), Registry{Reference: to})
	if diff := cmp.Diff(pushed, again); diff != "" || err != nil {
		t.Errorf("pushed again: %v\n%s", err, diff)
	}
	byDigest := strings.TrimSuffix(to, ":v1") + "@" + pushed[0].Digest
	for _, reference := range []string{to, byDigest} {
		rules, err := Source{Reference: reference, Key: public}.Open(t.Context())
		if err != nil || rules.Manifest.Revision != b.Revision || len(rules.Modules) != 3 {
			t.Errorf("%s: %v", reference, err)
		}
	}
}

// conftest's pull copies the artifact into a folder by the titles of its layers.
func TestConftestLayout(t *testing.T) {
	to := Registry{Reference: serve(t, nil) + ":v1"}
	if _, err := build(t, Options{}).Push(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	to.Reference += conftestSuffix
	repository, err := to.repository()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files, err := disk.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	types := map[string]string{}
	options := oras.DefaultCopyOptions
	options.Concurrency = 1 // layers are copied at the same time otherwise
	options.PostCopy = func(_ context.Context, d ocispec.Descriptor) error {
		types[d.Annotations[ocispec.AnnotationTitle]] = d.MediaType
		return nil
	}
	if _, err := oras.Copy(t.Context(), repository, "v1-conftest", files, "", options); err != nil {
		t.Fatal(err)
	}
	delete(types, "") // the config and the manifest
	want := map[string]string{
		"data.json": conftestData, "job/job.rego": conftestPolicy, "main/main.rego": conftestPolicy, "guardrails/empty.rego": conftestPolicy,
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	data, err := os.ReadFile(filepath.Join(folder, "job", "job.rego"))
	if err != nil || !bytes.Equal(data, rules()["job/job.rego"].Data) {
		t.Errorf("%q, %v", data, err)
	}
}

func TestBadRegistries(t *testing.T) {
	good := serve(t, nil) + ":v1"
	b := build(t, Options{})
	if _, err := b.Push(t.Context(), Registry{Reference: good}); err != nil {
		t.Fatal(err)
	}
	_, public := rsaFiles(t)
	down := httptest.NewServer(nil)
	down.Close()
	for _, test := range []struct {
		name   string
		source Source
		want   string
	}{
		{"down", Source{Reference: Scheme + strings.TrimPrefix(down.URL, "http://") + "/p:v1"}, "connection refused"},
		{"no such tag", Source{Reference: strings.TrimSuffix(good, "v1") + "v2"}, "v2: cannot pull: "},
		{"no tag", Source{Reference: strings.TrimSuffix(good, ":v1")}, "needs a tag, as in oci://REGISTRY/REPOSITORY:TAG"},
		{"no reference", Source{Reference: "oci://"}, "not a reference of the form oci://REGISTRY/REPOSITORY:TAG"},
		{"for conftest", Source{Reference: good + "-conftest"}, "no bundle: the artifact has layers of type " + conftestData + ", " + conftestPolicy},
		{"unsigned", Source{Reference: good, Key: public}, "bundle missing .signatures.json file"},
	} {
		_, err := test.source.Open(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), test.source.Reference+": ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got  %v\nwant %s", test.name, err, test.want)
		}
	}
	if _, err := b.Push(t.Context(), Registry{Reference: Scheme + strings.TrimPrefix(down.URL, "http://") + "/p:v1"}); err == nil ||
		!strings.Contains(err.Error(), "cannot push: ") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("push: %v", err)
	}
}

// A layer is held to its digest and length.
func TestCorruptedLayer(t *testing.T) {
	b := build(t, Options{})
	corrupt := func([]byte) []byte { return nil }
	to := serve(t, func(w http.ResponseWriter, r *http.Request, plain http.Handler) {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") {
			plain.ServeHTTP(w, r)
			return
		}
		w.Write(corrupt(b.Archive))
	}) + ":v1"
	if _, err := b.Push(t.Context(), Registry{Reference: to}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]byte) []byte{
		"one byte": func(data []byte) []byte { data = append([]byte(nil), data...); data[len(data)/2] ^= 1; return data },
		"cut off":  func(data []byte) []byte { return data[:len(data)/2] },
		"longer":   func(data []byte) []byte { return append(slices.Clip(data), "more"...) },
		"empty":    func([]byte) []byte { return nil },
	} {
		corrupt = change
		if _, err := (Source{Reference: to}).Open(t.Context()); err == nil || !strings.HasPrefix(err.Error(), to+": cannot pull: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Tags are set last: a push that fails moves none.
func TestFailedPushMovesNoTag(t *testing.T) {
	broken := false
	to := serve(t, func(w http.ResponseWriter, r *http.Request, plain http.Handler) {
		if broken && strings.Contains(r.URL.Path, "/manifests/sha256:") && r.Method == http.MethodPut {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		plain.ServeHTTP(w, r)
	}) + ":v1"
	if _, err := build(t, Options{Revision: "first"}).Push(t.Context(), Registry{Reference: to}); err != nil {
		t.Fatal(err)
	}
	broken = true
	if _, err := build(t, Options{Revision: "second"}).Push(t.Context(), Registry{Reference: to}); err == nil {
		t.Fatal("no error")
	}
	rules, err := Source{Reference: to}.Open(t.Context())
	if err != nil || rules.Manifest.Revision != "first" {
		t.Errorf("%v", err)
	}
}
