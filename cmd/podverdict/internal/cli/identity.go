package cli

import "github.com/podverdict/podverdict/internal/input/manifest"

// Identity identifies an object. An update cannot change it.
type Identity struct {
	kind string
	name manifest.Reference
}

func (i Identity) String() string { return i.kind + " " + i.name.String() }

// IdentityOf returns the identity of a Job.
func IdentityOf(j manifest.Job) Identity {
	if j.CronJob != nil {
		return Identity{"CronJob", j.Reference()}
	}
	return Identity{"Job", j.Reference()}
}
