package cel

import "strconv"

const (
	signalBase = 128
	maxSignal  = 64
	// The first and last signals without a fixed meaning.
	firstRealTime, lastRealTime = 34, 64
)

// signalNames are Linux's signals, starting at 1, on all processor architectures that Kubernetes
// supports (signal(7)).
var signalNames = [...]string{
	"SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE",
	"SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT",
	"SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU",
	"SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// realTimeNames are SIGRTMIN to SIGRTMIN+30, computed once instead of at each evaluation.
var realTimeNames = func() (names [lastRealTime - firstRealTime + 1]string) {
	names[0] = "SIGRTMIN"
	for i := 1; i < len(names); i++ {
		names[i] = "SIGRTMIN+" + strconv.Itoa(i)
	}
	return names
}()

// signalName returns the name of a signal, or an empty string if there is no such signal.
func signalName(signal int64) string {
	switch {
	case signal >= 1 && signal <= int64(len(signalNames)):
		return signalNames[signal-1]
	case signal >= firstRealTime && signal <= lastRealTime:
		return realTimeNames[signal-firstRealTime]
	default:
		return ""
	}
}

// SignalNames returns all possible names, in the order of the signals.
func SignalNames() []string {
	return append(append([]string{}, signalNames[:]...), realTimeNames[:]...)
}
