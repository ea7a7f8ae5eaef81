//go:build !js

package cluster

import (
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs may use an OIDC provider
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"github.com/podverdict/podverdict/api/v1alpha1"
)

// Cluster reads from an API server, with one namespace as the default.
type Cluster struct {
	// Namespace is the requested namespace, else that of the kubeconfig's context, else "default".
	Namespace string
	// Progress is called with the number of objects of each page.
	Progress func(objects int)

	server  string // server address, for errors
	context string // requested context, for the commands that errors suggest
	timeout time.Duration
	retry   wait.Backoff

	batch, core, policies, jobSets *rest.RESTClient
}

// Connect calls ConnectAlways for a verb that can also read files: a missing kubeconfig error suggests -f.
func (o *Options) Connect(namespace, userAgent string) (*Cluster, error) {
	c, err := o.ConnectAlways(namespace, userAgent)
	if missing, ok := errors.AsType[noKubeconfigError](err); ok {
		err = fmt.Errorf("%w, or read files with -f", missing)
	}
	return c, err
}

// ConnectAlways loads the kubeconfig without sending any request. An empty namespace selects the context's namespace.
func (o *Options) ConnectAlways(namespace, userAgent string) (*Cluster, error) {
	config, namespace, err := o.Config(namespace, userAgent)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Namespace: namespace, Progress: func(int) {}, server: config.Host, context: o.overrides.CurrentContext, retry: retryDelays(),
	}
	if err := c.connect(config); err != nil {
		return nil, errKubeconfig(err)
	}
	return c, nil
}

// Config returns the client configuration for the API server, and the namespace. An empty namespace selects the context's.
func (o *Options) Config(namespace, userAgent string) (*rest.Config, string, error) {
	loaded, err := o.load(namespace)
	if err != nil {
		return nil, "", err
	}
	if _, err := clientcmd.ParseTimeout(o.overrides.Timeout); err != nil {
		return nil, "", fmt.Errorf("--request-timeout %s: must be a time as in 30s or 2m", o.overrides.Timeout)
	}
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, "", errKubeconfig(err)
	}
	if namespace, _, err = loaded.Namespace(); err != nil {
		return nil, "", errKubeconfig(err)
	}
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent
	return config, namespace, nil
}

func (c *Cluster) connect(config *rest.Config) (err error) {
	config.QPS = -1                           // pages are read one after another, and the API server has its own rate limit
	config.WarningHandler = rest.NoWarnings{} // no deprecated API is read
	c.timeout = config.Timeout
	if c.policies, err = NewClient(config, v1alpha1.GroupVersion, v1alpha1.AddToScheme); err != nil {
		return err
	}
	if c.batch, err = NewClient(config, batchv1.SchemeGroupVersion, batchv1.AddToScheme); err != nil {
		return err
	}
	if c.jobSets, err = NewClient(config, v1alpha2.GroupVersion, v1alpha2.AddToScheme); err != nil {
		return err
	}
	c.core, err = NewClient(config, corev1.SchemeGroupVersion, corev1.AddToScheme)
	return err
}
