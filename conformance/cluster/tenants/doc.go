// Package tenants lets the users of one namespace attack the Jobs of another, on a real control plane. The controller
// runs as installed: as a process with the permissions of its service account, which is killed when it uses more memory
// than the limit of its Deployment. The package has only tests.
//
// An attacker is a user with the built-in role edit in its own namespace, and view in the victim's. An attack uses only
// that user's client, so it does only what a tenant may do. Meanwhile the victim's Jobs must end as they do without an
// attack: with the same conditions, counters and Pods, and in little more than twice the time. An attack also states
// requirements for the attacker's own Jobs: above all, that the platform's policy still applies to them.
//
// Each attack documents its effect on Kubernetes' own Job controller.
//
// The tests act as the kubelet. A few attacks are smaller than they could be, so that the package takes only minutes:
// -tenants-full runs them at full size.
package tenants
