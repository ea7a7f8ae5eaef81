package admission

import (
	"fmt"
	"strings"
)

// Sizes of the Job for cost estimates: the API's maximum number of rules, exit codes and patterns, and more containers
// than Pods usually have.
const (
	largestRules      = 20
	largestValues     = 255
	largestPatterns   = 20
	largestContainers = 20
)

// Largest returns Jobs with the largest valid policies: one that satisfies most guardrails, one that breaks as many as
// possible and therefore needs the messages, and one with exit codes before conditions.
func Largest() []map[string]any {
	kept := func(i int) map[string]any {
		return map[string]any{"action": "Ignore", "onExitCodes": exitCodes(fmt.Sprintf("c%d", i), 1000)}
	}
	broken := func(int) map[string]any {
		return map[string]any{"action": "FailJob", "onExitCodes": exitCodes("", 1)}
	}
	mixed := func(i int) map[string]any {
		if i < largestRules/2 {
			return map[string]any{"action": "Count", "onExitCodes": exitCodes("", 1000)}
		}
		return map[string]any{"action": "Ignore", "onPodConditions": disruptions()}
	}
	careful, careless := largest(kept), largest(broken)
	careful["activeDeadlineSeconds"], careful["ttlSecondsAfterFinished"] = int64(3600), int64(3600)
	careless["backoffLimitPerIndex"], careless["managedBy"] = int64(1000), "example.com/"+strings.Repeat("x", 40)
	return []map[string]any{careful, careless, largest(mixed)}
}

func disruptions() []any {
	patterns := make([]any, largestPatterns)
	for i := range patterns {
		patterns[i] = map[string]any{"type": "DisruptionTarget", "status": "True"}
	}
	return patterns
}

func exitCodes(container string, first int64) map[string]any {
	values := make([]any, largestValues)
	for i := range values {
		values[i] = first + int64(i)
	}
	codes := map[string]any{"operator": "In", "values": values}
	if container != "" {
		codes["containerName"] = container
	}
	return codes
}

func largest(rule func(int) map[string]any) map[string]any {
	rules := make([]any, largestRules)
	for i := range rules {
		rules[i] = rule(i)
	}
	containers, sidecars := make([]any, largestContainers), make([]any, largestContainers)
	for i := range largestContainers {
		resources := map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}}
		containers[i] = map[string]any{"name": fmt.Sprintf("c%d", i), "image": "registry.example/job", "resources": resources}
		sidecars[i] = map[string]any{"name": fmt.Sprintf("s%d", i), "image": "registry.example/log", "restartPolicy": "Always", "resources": resources}
	}
	return map[string]any{
		"completionMode": "Indexed", "completions": int64(100000), "parallelism": int64(10000), "backoffLimit": int64(6),
		"podReplacementPolicy": "Failed", "suspend": false,
		"podFailurePolicy": map[string]any{"rules": rules},
		"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": containers, "initContainers": sidecars,
		}},
	}
}
