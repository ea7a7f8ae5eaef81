package main

import "github.com/podverdict/podverdict/internal/input/manifest"

// identity is what tells objects apart: an update cannot change it.
type identity struct {
	kind string
	name manifest.Reference
}

func (i identity) String() string { return i.kind + " " + i.name.String() }

func identityOf(j manifest.Job) identity {
	if j.CronJob != nil {
		return identity{"CronJob", j.Reference()}
	}
	return identity{"Job", j.Reference()}
}
