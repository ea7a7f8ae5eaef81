package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Compact has etcd forget all revisions but the newest, and defragment its file, as a maintenance job does. Watches and lists
// that go on from an older version are refused from then on.
func (c *Cluster) Compact() error { return c.supervisor.do("Compact", Etcd) }

// Compact compacts etcd, the only component that can be.
func (p *plane) Compact(_ Component, _ *string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.up(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var answer struct {
		Header struct{ Revision string }
	}
	anyKey := map[string]any{"key": []byte("/"), "count_only": true}
	if err := callEtcd(ctx, p.control.Etcd.URL, "/v3/kv/range", anyKey, &answer); err != nil {
		return err
	}
	now := map[string]any{"revision": answer.Header.Revision, "physical": true}
	if err := callEtcd(ctx, p.control.Etcd.URL, "/v3/kv/compaction", now, nil); err != nil {
		return err
	}
	return callEtcd(ctx, p.control.Etcd.URL, "/v3/maintenance/defragment", struct{}{}, nil)
}

// callEtcd calls a method of etcd's API through its JSON gateway.
func callEtcd(ctx context.Context, etcd *url.URL, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, etcd.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errEtcd(path, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
