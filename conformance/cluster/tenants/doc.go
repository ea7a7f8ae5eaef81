// Package tenants has the users of one namespace attack the Jobs of another, on a real control plane, where the controller
// runs as it is installed: as a process with the permissions of its service account, and is killed when it has more
// memory than the limit of its Deployment. It consists of tests.
//
// An attacker is a user with the built-in role edit in its own namespace, and view in the victim's. An attack uses only the
// client of that user, so it does what a tenant may do. Meanwhile the victim's Jobs must end as they do without an attack:
// with the same conditions, counters and Pods, and in little more than twice the time. An attack also says what must hold for
// the attacker's own Jobs: above all, that the platform's policy still applies to them.
//
// Each attack documents what it would do to Kubernetes' own Job controller.
//
// The tests play the kubelet. A few attacks are smaller than they could be, so that the package takes minutes: -tenants-full
// runs them at their full size.
package tenants
