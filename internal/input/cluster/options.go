//go:build !js

package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Options select the cluster to connect to, and the user to connect as.
type Options struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

// AddFlags adds kubectl's connection flags, except the namespace flag. Most are hidden from the help, because they would double its
// length.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file to use (default $KUBECONFIG, else ~/.kube/config)")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.Namespace.LongName = ""                                            // -n is also defined for files
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", "" // API servers no longer accept them
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	names.CurrentContext.Description = "context of the kubeconfig to use"
	names.Timeout.Description = "how long a request may take, as in 30s; 0 is for ever"

	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&o.overrides, connection, names)
	connection.Func("as-user-extra", "extra of the user to impersonate, as KEY=VALUE; may be repeated", o.addExtra)
	connection.VisitAll(func(f *pflag.Flag) {
		f.Hidden = f.Name != clientcmd.FlagContext && f.Name != clientcmd.FlagTimeout
	})
	flags.AddFlagSet(connection)
}

func (o *Options) addExtra(extra string) error {
	key, value, ok := strings.Cut(extra, "=")
	if !ok {
		return errors.New("must be KEY=VALUE")
	}
	user := &o.overrides.AuthInfo
	if user.ImpersonateUserExtra == nil {
		user.ImpersonateUserExtra = map[string][]string{}
	}
	user.ImpersonateUserExtra[key] = append(user.ImpersonateUserExtra[key], value)
	return nil
}

func (o *Options) load(namespace string) (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	rules.Warner = func(error) {} // Connect reports missing files
	overrides := o.overrides
	overrides.Context.Namespace = namespace
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
	raw, err := config.RawConfig()
	if err != nil {
		return nil, errKubeconfig(err)
	}
	if len(raw.Contexts)+len(raw.Clusters)+len(raw.AuthInfos) == 0 {
		return config, o.checkEmpty(rules.GetLoadingPrecedence())
	}
	return config, o.checkNames(raw)
}

// checkEmpty rejects a missing kubeconfig, unless the server is configured in another way.
func (o *Options) checkEmpty(looked []string) error {
	if _, err := rest.InClusterConfig(); err != nil && o.overrides.ClusterInfo.Server == "" {
		return noKubeconfigError(looked)
	}
	return nil
}

// checkNames rejects names that are not in the kubeconfig.
func (o *Options) checkNames(raw clientcmdapi.Config) error {
	for _, chosen := range []struct {
		what, name string
		known      []string
	}{
		{"context", o.overrides.CurrentContext, keys(raw.Contexts)},
		{"cluster", o.overrides.Context.Cluster, keys(raw.Clusters)},
		{"user", o.overrides.Context.AuthInfo, keys(raw.AuthInfos)},
	} {
		if chosen.name != "" && !slices.Contains(chosen.known, chosen.name) {
			return fmt.Errorf("kubeconfig: no %s %q%s", chosen.what, chosen.name, alternatives(chosen.name, chosen.known))
		}
	}
	return nil
}

// Kubeconfig returns the names of contexts, clusters and users, for shell completion. It returns none if the kubeconfig cannot be
// read.
func (o *Options) Kubeconfig() (contexts, clusters, users []string) {
	config, err := o.load("")
	if err != nil {
		return nil, nil, nil
	}
	raw, err := config.RawConfig()
	if err != nil {
		return nil, nil, nil
	}
	return keys(raw.Contexts), keys(raw.Clusters), keys(raw.AuthInfos)
}
