// Package protocol connects engines across processes, with one JSON request per line and one JSON response per line. [Serve]
// answers requests with an engine of this process, and [Exec] starts a program that answers them:
//
//	process, err := protocol.Exec(ctx, []string{"./my-engine", "--flag"}, 0)
//	report, err := vectors.Run(ctx, process.Verdict, all, vectors.Options{Engine: "mine"})
//	err = process.Close()
//
// [Server.Serve] describes requests and responses.
package protocol
