package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

const module = "k8s.io/kubernetes@" + kubeversion.Pinned

// roots lists the schemas to write, by file name.
var roots = []struct{ file, document, schema string }{
	{"cronjob.jsonschema", "apis__batch__v1_openapi.json", "io.k8s.api.batch.v1.CronJob"},
	{"job.jsonschema", "apis__batch__v1_openapi.json", "io.k8s.api.batch.v1.Job"},
	{"pod.jsonschema", "api__v1_openapi.json", "io.k8s.api.core.v1.Pod"},
}

// kinds lists the kinds whose OpenAPI schemas compiler/admission/kind embeds.
var kinds = []struct{ document, schema string }{
	{"apis__batch__v1_openapi.json", "io.k8s.api.batch.v1.CronJob"},
	{"apis__batch__v1_openapi.json", "io.k8s.api.batch.v1.Job"},
}

func main() {
	top := filepath.Join("..", "..", "..")
	if err := generate(context.Background(), filepath.Join(top, "policies", "schemas"), filepath.Join(top, "compiler", "admission", "kind", "schemas")); err != nil {
		fmt.Fprintln(os.Stderr, "genschemas:", err)
		os.Exit(1) //nolint:forbidigo // this is a command, though not one of cmd
	}
}

// generate writes the JSON Schemas into one folder and the OpenAPI schemas into another.
func generate(ctx context.Context, jsonSchemas, openAPISchemas string) error {
	source, err := download(ctx)
	if err != nil {
		return err
	}
	source = filepath.Join(source, "api", "openapi-spec", "v3")
	for _, r := range roots {
		schemas := components{}
		if err := schemas.add(filepath.Join(source, r.document), r.schema); err != nil {
			return err
		}
		schema, err := schemas.jsonSchema(r.schema)
		if err != nil {
			return fmt.Errorf("%s: %w", r.document, err)
		}
		if err := write(filepath.Join(jsonSchemas, r.file), schema); err != nil {
			return err
		}
	}
	schemas := components{}
	for _, k := range kinds {
		if err := schemas.add(filepath.Join(source, k.document), k.schema); err != nil {
			return err
		}
	}
	return write(filepath.Join(openAPISchemas, "openapi.json"), schemas)
}

// download returns the folder of the module. It runs the go command in conformance/upstream, because the go.mod there
// requires the module and the go.sum has its hash.
func download(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = filepath.Join("..", "..", "..", "conformance", "upstream")
	out, err := cmd.Output()
	var got struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if e := json.Unmarshal(out, &got); e != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, errors.Join(err, e))
	}
	if got.Error != "" {
		return "", errors.New(got.Error)
	}
	return got.Dir, nil
}

func write(path string, schema any) error {
	b, err := json.MarshalIndent(schema, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644) //nolint:gosec // the schemas are for everybody to read
}
