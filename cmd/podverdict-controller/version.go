package main

import "runtime/debug"

// version returns the module's version, as the Go linker noted it, with the revision of a build from a working tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
