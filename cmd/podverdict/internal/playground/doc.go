// Package playground serves the page that runs podverdict in a browser, from a folder or a file of the release, and
// gives it the Jobs of a cluster.
//
//	files, err := playground.Open("podverdict-playground_0.1.0.zip")
//	handler := playground.Page(files)                // the page alone
//	handler = playground.Live(files, source, token)  // and Jobs of a cluster
//
// # What is served
//
//	GET /cluster/jobs                   a [List]: each Job with its outlook and the verdicts on its Pods
//	GET /cluster/jobs/{namespace}/{name}  a stream of YAML: the Job, its Pods, and the custom policies in force for it
//	GET /...                            files of the page
//
// The words of the list are those of eval. The stream is input for the page, which judges it by the engine that it has:
// nothing is judged twice in two ways.
//
// # Who may read it
//
// Other users of the machine and every page that a browser has open can reach a port on loopback. So the live answers
// need a token, which is made anew for each run. It is printed with the address, behind "#": browsers do not send that
// part, so it is in no log and in no Referer, and the page sends it as a header, which pages of other origins cannot.
// Beside that, the server refuses hosts that are not this machine (a name of another domain can be made to point to it), what
// browsers mark as asked by another site, and methods that are not for reading.
package playground
