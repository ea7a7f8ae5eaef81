// Package tenants has the users of one namespace attack the Jobs of another, on a real control plane, where the controller
// runs as it is installed: as a process with the permissions of its service account, and is killed when it has more
// memory than the limit of its Deployment. It consists of tests.
//
// An attacker is a user with the built-in role edit in a namespace of its own, and view in the victim's. All that an attack
// does, it does by the client of that user, so it is what a tenant may do. While it goes on, the victim's Jobs must end as
// they do without it: with the same conditions, counters and Pods, and in at most twice the time and a little. Beyond that an
// attack says what must hold for the attacker's own Jobs: what the platform's policy says of them, above all.
//
// Each attack says what a tenant can do to Kubernetes' own Job controller in the same way.
//
// The tests play the kubelet. A few attacks are smaller than they could be, so that the package takes minutes:
// -tenants-full runs them at their full size.
package tenants
