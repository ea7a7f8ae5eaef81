package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	opabundle "github.com/open-policy-agent/opa/v1/bundle"

	"github.com/podverdict/podverdict/runtime/rego"
)

// Options say how to build a Bundle.
type Options struct {
	// Revision names the state of the rules; "" means a digest of their text and data.
	Revision string
	// Key is the file of the private key that signs, in PEM; "" means none.
	Key string
}

// Bundle is a set of rules, ready to be written.
type Bundle struct {
	// Archive is OPA's tar.gz.
	Archive []byte
	// Revision is that of its manifest.
	Revision string

	files []file
}

// file is a part of a Bundle as conftest takes it.
type file struct {
	path string
	data []byte
}

// Build makes a Bundle of the rules in a folder, without their tests. Files stand in the order of their names.
func Build(folder fs.FS, o Options) (*Bundle, error) {
	rules, err := rego.Load(folder)
	if err != nil {
		return nil, err
	}
	if o.Revision != "" {
		rules.Manifest.Revision = o.Revision
	}
	files, err := filesOf(rules)
	if err != nil {
		return nil, err
	}
	if rules.Manifest.Revision == "" {
		rules.Manifest.Revision = digest(files)
	}
	if o.Key != "" {
		if err := sign(rules, o.Key); err != nil {
			return nil, err
		}
	}
	var archive bytes.Buffer
	if err := opabundle.Write(&archive, *rules); err != nil {
		return nil, err
	}
	return &Bundle{Archive: archive.Bytes(), Revision: rules.Manifest.Revision, files: files}, nil
}

func filesOf(rules *opabundle.Bundle) ([]file, error) {
	var files []file
	if len(rules.Data) > 0 {
		data, err := json.Marshal(rules.Data)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"data.json", data})
	}
	for _, module := range rules.Modules {
		files = append(files, file{strings.TrimPrefix(module.Path, "/"), module.Raw})
	}
	return files, nil
}

// digest returns a digest of the rules, which tells their states apart.
func digest(files []file) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n%s", f.path, len(f.data), f.data)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
