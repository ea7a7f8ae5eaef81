package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Kill kills a component immediately, like kill -9, and returns when it is gone. Open starts it again.
func (c *Cluster) Kill(component Component) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kill(component)
}

func (c *Cluster) kill(component Component) error {
	if err := c.signal(component, "KILL"); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); c.signal(component, "0") == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("it was killed, and is still there")
		}
	}
	return os.Remove(c.pidFile(component))
}

// Pause stops a component in the middle of its work: connections stay open, but get no response. Call Resume afterwards.
func (c *Cluster) Pause(component Component) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signal(component, "STOP")
}

// Resume continues a paused component.
func (c *Cluster) Resume(component Component) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signal(component, "CONT")
}

// signal sends a signal to a running component.
func (c *Cluster) signal(component Component, name string) error {
	pid, err := os.ReadFile(c.pidFile(component))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s does not run", component)
	}
	if err != nil {
		return err
	}
	command := exec.Command("sh", "-c", `kill -"$0" "$1"`, name, strings.TrimSpace(string(pid))) //nolint:gosec,noctx // ends at once
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", component, err, out)
	}
	return nil
}

// Compact makes etcd forget all revisions but the newest, and defragment its file, like a maintenance job. Watches and
// lists that continue from an older version are rejected from then on.
func (c *Cluster) Compact() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var answer struct {
		Header struct{ Revision string }
	}
	anyKey := map[string]any{"key": []byte("/"), "count_only": true}
	if err := c.callEtcd(ctx, "/v3/kv/range", anyKey, &answer); err != nil {
		return err
	}
	now := map[string]any{"revision": answer.Header.Revision, "physical": true}
	if err := c.callEtcd(ctx, "/v3/kv/compaction", now, nil); err != nil {
		return err
	}
	return c.callEtcd(ctx, "/v3/maintenance/defragment", struct{}{}, nil)
}

// callEtcd calls a method of etcd's API through its JSON gateway.
func (c *Cluster) callEtcd(ctx context.Context, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.control.Etcd.URL.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s with %s", path, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
