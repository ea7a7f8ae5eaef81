package runtime_test

import (
	"fmt"
	"testing"

	"github.com/podverdict/podverdict/runtime"
)

func BenchmarkEvaluate(b *testing.B) {
	for _, s := range sizes() {
		c := compiled(b, s.policy)
		for _, o := range []runtime.Options{{}, interpreted} {
			p := program(b, c, o)
			b.Run(fmt.Sprintf("%s/specialized=%t", s.name, !o.DisableSpecialization), func(b *testing.B) {
				ctx := b.Context()
				b.ReportAllocs()
				for b.Loop() {
					if v := p.Evaluate(ctx, s.pod); v.Rule != s.rule {
						b.Fatalf("rule %d decided, want %d", v.Rule, s.rule)
					}
				}
			})
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	for _, s := range sizes() {
		p := program(b, compiled(b, s.policy), runtime.Options{})
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e, err := p.Explain(b.Context(), runtime.Input{Pod: s.pod})
				if err != nil || e.Verdict.Rule != s.rule {
					b.Fatalf("rule %d decided, want %d: %v", e.Verdict.Rule, s.rule, err)
				}
			}
		})
	}
}
