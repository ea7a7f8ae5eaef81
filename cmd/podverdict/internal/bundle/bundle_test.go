package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// rules returns a bundle of two packages, with data and a test.
func rules() fstest.MapFS {
	return fstest.MapFS{
		".manifest":             {Data: []byte(`{"revision":"","roots":["podverdict","main"],"rego_version":1}`)},
		"podverdict/data.json":  {Data: []byte(`{"config":{"max":3}}`)},
		"main/main.rego":        {Data: []byte("package main\n\ndeny contains x if some x in data.podverdict.job.findings\n")},
		"job/job.rego":          {Data: []byte("package podverdict.job\n\nfindings := []\n")},
		"job/job_test.rego":     {Data: []byte("package podverdict.job_test\n")},
		"schemas/job.json":      {Data: []byte("{}")},
		".regal/config.yaml":    {Data: []byte("rules: {}")},
		"guardrails/empty.rego": {Data: []byte("package podverdict.guardrails\n")},
	}
}

func build(t *testing.T, o Options) *Bundle {
	t.Helper()
	b, err := Build(rules(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keyFiles writes the private and the public key to files.
func keyFiles(t *testing.T, private any, public any) (privateFile, publicFile string) {
	t.Helper()
	write := func(kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	privateDER, privateErr := x509.MarshalPKCS8PrivateKey(private)
	publicDER, publicErr := x509.MarshalPKIXPublicKey(public)
	return write("PRIVATE KEY", privateDER, privateErr), write("PUBLIC KEY", publicDER, publicErr)
}

func rsaFiles(t *testing.T) (private, public string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return keyFiles(t, key, key.Public())
}

func ecdsaFiles(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keyFiles(t, key, key.Public())
}

func entries(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has a time or an owner: %+v", header.Name, header)
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(data)
	}
}

func TestArchive(t *testing.T) {
	b := build(t, Options{})
	got := entries(t, b.Archive)
	manifest := got["/.manifest"]
	delete(got, "/.manifest")
	want := map[string]string{
		"/data.json":             "{\"podverdict\":{\"config\":{\"max\":3}}}\n",
		"/main/main.rego":        string(rules()["main/main.rego"].Data),
		"/job/job.rego":          string(rules()["job/job.rego"].Data),
		"/guardrails/empty.rego": string(rules()["guardrails/empty.rego"].Data),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := `{"revision":"` + b.Revision + `","roots":["podverdict","main"],"rego_version":1}` + "\n"; manifest != want {
		t.Errorf("got  %swant %s", manifest, want)
	}
	if !strings.HasPrefix(b.Revision, "sha256:") {
		t.Errorf("revision %q", b.Revision)
	}
	if named := build(t, Options{Revision: "v1"}); named.Revision != "v1" || !strings.Contains(entries(t, named.Archive)["/.manifest"], `"v1"`) {
		t.Errorf("revision %q", named.Revision)
	}
}

func TestReproducible(t *testing.T) {
	key, _ := rsaFiles(t)
	for _, o := range []Options{{}, {Key: key}} {
		first := build(t, o)
		if again := build(t, o); !bytes.Equal(first.Archive, again.Archive) {
			t.Errorf("%+v: two builds differ", o)
		}
	}
	changed := rules()
	changed["job/job.rego"].Data = []byte("package podverdict.job\n\nfindings := {}\n")
	b, err := Build(changed, Options{})
	if err != nil || b.Revision == build(t, Options{}).Revision {
		t.Errorf("other rules have the same revision; %v", err)
	}
}

func TestSignatures(t *testing.T) {
	rsaPrivate, rsaPublic := rsaFiles(t)
	ecPrivate, ecPublic := ecdsaFiles(t)
	_, other := rsaFiles(t)
	written := func(o Options) string {
		name, err := build(t, o).WriteFile(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	unsigned, signed := written(Options{}), written(Options{Key: rsaPrivate})
	changed := filepath.Join(t.TempDir(), FileName)
	tampered := build(t, Options{Key: rsaPrivate})
	if err := os.WriteFile(changed, retold(t, tampered.Archive, "findings := []", "findings := {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, archive, key, want string }{
		{"RSA", signed, rsaPublic, ""},
		{"ECDSA", written(Options{Key: ecPrivate}), ecPublic, ""},
		{"nobody asks", signed, "", ""},
		{"unsigned", unsigned, rsaPublic, unsigned + ": bundle: bundle missing .signatures.json file"},
		{"another key", signed, other, signed + ": bundle: "},
		{"another kind of key", signed, ecPublic, signed + ": bundle: "},
		{"changed", changed, rsaPublic, changed + ": bundle: "},
		{"no key", signed, unsigned, unsigned + ": not a PEM file with a key"},
		{"missing key", signed, "absent.pem", "absent.pem: cannot read: no such file or directory"},
		{"folder", filepath.Dir(signed), rsaPublic, filepath.Dir(signed) + ": a folder has no signature: --verification-key needs an archive"},
	} {
		_, err := Source{Reference: test.archive, Key: test.key}.Open(t.Context())
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got  %v\nwant %s", test.name, err, test.want)
		}
	}
	if _, err := Build(rules(), Options{Key: rsaPublic}); !errors.Is(err, errPublicKey) {
		t.Errorf("public key: %v", err)
	}
}

// retold returns the archive with another text in its files.
func retold(t *testing.T, archive []byte, before, after string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	for name, text := range entries(t, archive) {
		text = strings.ReplaceAll(text, before, after)
		if err := files.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(files, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A file is there whole or as it was.
func TestWriteFile(t *testing.T) {
	b, folder := build(t, Options{}), t.TempDir()
	name, err := b.WriteFile(folder)
	if err != nil || name != filepath.Join(folder, FileName) {
		t.Fatal(name, err)
	}
	if data, err := os.ReadFile(name); err != nil || !bytes.Equal(data, b.Archive) {
		t.Errorf("not what was written: %v", err)
	}
	if _, err := b.WriteFile(name); err != nil {
		t.Errorf("again: %v", err)
	}
	made := filepath.Join(folder, "new") + string(filepath.Separator)
	if name, err := b.WriteFile(made); err != nil || name != filepath.Join(folder, "new", FileName) {
		t.Errorf("new folder: %s, %v", name, err)
	}
	blocked := filepath.Join(folder, "taken")
	if err := os.MkdirAll(filepath.Join(blocked, FileName, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		blocked:                             filepath.Join(blocked, FileName) + ": cannot write: is a directory",
		filepath.Join(name, "x") + "/":      "mkdir " + name + ": not a directory",
		filepath.Join(folder, "no", "such"): filepath.Join(folder, "no", "such") + ": cannot write: no such file or directory",
	} {
		if _, err := b.WriteFile(name); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, "*", ".*"))
	if more, _ := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(slices.Concat(left, more)) != 0 {
		t.Errorf("temporary files are left: %v %v", left, more)
	}
}

func TestBuildRefuses(t *testing.T) {
	for file, text := range map[string]string{"x.rego": "package elsewhere", "job/job.rego": "package", ".manifest": "{"} {
		folder := rules()
		folder[file] = &fstest.MapFile{Data: []byte(text)}
		if _, err := Build(folder, Options{}); err == nil {
			t.Errorf("%s: no error", file)
		}
	}
}
