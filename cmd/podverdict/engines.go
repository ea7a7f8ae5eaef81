package main

import (
	"context"
	"strings"

	"github.com/podverdict/podverdict/conformance"
	"github.com/podverdict/podverdict/runtime"
)

// Engines by name.
const (
	engineCEL = "cel"
	engineGo  = "go"

	// engineExec is followed by a command, which is cut at its spaces.
	engineExec = "exec:"
)

// engineNamed finds an engine that is part of this program.
func engineNamed(name string) (conformance.Engine, error) {
	switch name {
	case engineCEL:
		return conformance.CEL(runtime.Options{}), nil
	case engineGo:
		return conformance.Go, nil
	}
	return nil, errEngine(name, []string{engineCEL, engineGo})
}

// startEngine is engineNamed that also knows programs of others. They run until close.
func startEngine(ctx context.Context, name string) (engine conformance.Engine, closeEngine func() error, err error) {
	if command, ok := strings.CutPrefix(name, engineExec); ok {
		process, err := conformance.Exec(ctx, strings.Fields(command), 0)
		if err != nil {
			return nil, nil, err
		}
		return process.Verdict, process.Close, nil
	}
	engine, err = engineNamed(name)
	if err != nil {
		err = errEngine(name, []string{engineCEL, engineGo, engineExec + "COMMAND"})
	}
	return engine, func() error { return nil }, err
}
