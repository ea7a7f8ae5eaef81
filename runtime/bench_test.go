package runtime_test

import (
	"testing"

	"github.com/podverdict/podverdict/runtime"
)

func BenchmarkEvaluate(b *testing.B) {
	for _, s := range sizes() {
		for kind, p := range programs(b, s.policy) {
			b.Run(s.name+"/"+kind, func(b *testing.B) {
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
		p := runtime.NewProgram(compiled(b, s.policy))
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
