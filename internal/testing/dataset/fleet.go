package dataset

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podverdict/podverdict/internal/input/gathering"
	"github.com/podverdict/podverdict/internal/kube/jobdefaults"
)

// Options select the data to generate.
type Options struct {
	// Pods is the minimum number of Pods; 0 means 2,000.
	Pods int
	// Plant lists the kinds of causes to plant: node, image, code or disruption.
	Plant []string
	// Noise is the probability that an attempt fails for its own reasons; 0 means 0.03.
	Noise float64
}

// Fleet is the generated data.
type Fleet struct {
	Records []gathering.Record
	Planted []Planted
}

// Planted is a cause of many failures. Code and Reason are empty if they vary.
type Planted struct{ Kind, Value, Code, Reason string }

// app is a Job that is created repeatedly.
type app struct {
	Minutes int         `json:"minutes"` // typical run time of an attempt
	Job     batchv1.Job `json:"job"`
	flaky   float64     // factor for its failure rate
}

//go:embed apps.yaml
var apps []byte

type generator struct {
	*rand.Rand
	Options
	Fleet
	apps          []app
	workers, gpus []string

	badNode, badImage, image string // badImage is the next version of image
	badCode                  int32
	jobs, pods               int
}

// Generate returns a fleet.
func Generate(seed uint64, o Options) Fleet {
	o.Pods, o.Noise = cmp.Or(o.Pods, 2000), cmp.Or(o.Noise, 0.03)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), Options: o} //nolint:gosec // fleets must be repeatable
	if err := yaml.UnmarshalStrict(apps, &g.apps); err != nil {
		panic(err) //nolint:forbidigo // of a file that is embedded
	}
	for i := range g.apps {
		g.apps[i].flaky = 0.5 + g.Float64()
		jobdefaults.Set(&g.apps[i].Job)
	}
	for i := range 8 + g.IntN(13) {
		g.workers = append(g.workers, "worker-"+strconv.Itoa(i))
	}
	for i := range 4 + g.IntN(5) {
		g.gpus = append(g.gpus, "gpu-"+strconv.Itoa(i))
	}
	for _, kind := range o.Plant {
		g.Planted = append(g.Planted, g.plant(kind))
	}
	for ; g.pods < g.Options.Pods; g.jobs++ {
		g.addJob(&g.apps[g.jobs%len(g.apps)])
	}
	return g.Fleet
}

func (g *generator) plant(kind string) Planted {
	switch kind {
	case "node":
		g.badNode = pick(g, slices.Concat(g.workers, g.gpus))
		return Planted{kind, g.badNode, "", ""}
	case "image":
		g.image = pick(g, g.apps).Job.Spec.Template.Spec.Containers[0].Image
		g.badImage = g.image + "-next"
		return Planted{kind, g.badImage, "137", "OOMKilled"}
	case "code":
		g.badCode = pick(g, []int32{3, 42, 64, 78, 126})
		code := strconv.Itoa(int(g.badCode))
		return Planted{kind, code, code, ""}
	}
	return Planted{Kind: kind, Value: string(corev1.DisruptionTarget)}
}

func pick[E any](g *generator, from []E) E { return from[g.IntN(len(from))] }

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// between returns a random duration from low up to high.
func (g *generator) between(low, high time.Duration) time.Duration {
	return (low + time.Duration(g.Int64N(int64(high-low)))).Truncate(time.Second)
}

// Write writes Jobs and Pods as NDJSON, one object per line.
func Write(w io.Writer, records []gathering.Record) error {
	encoder := json.NewEncoder(w)
	for _, r := range records {
		var object any = r.Pod
		if r.Job != nil {
			object = r.Job
		}
		if err := encoder.Encode(object); err != nil {
			return err
		}
	}
	return nil
}

// Month returns the fleet of docs/failed-month.md.
func Month() Fleet {
	return Generate(11, Options{Pods: 10_000, Plant: []string{"node", "image", "code"}})
}
