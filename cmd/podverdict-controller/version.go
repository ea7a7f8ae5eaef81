package main

import "runtime/debug"

// version returns the module's version as recorded by the linker, with the revision if it was built from a working tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
