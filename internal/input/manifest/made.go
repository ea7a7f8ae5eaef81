package manifest

import (
	"regexp"
	"strings"

	"sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// madeName splits the name of a Job that something else has named: a CronJob appends the minute it was due, a JobSet the number of
// the replica, and the API server five characters to a generateName.
var madeName = regexp.MustCompile(`^(.+)-(?:[0-9]+|[bcdfghjklmnpqrstvwxz2456789]{5})$`)

// addMade adds the Jobs that Pods name and the input lacks, where it has what made them: a CronJob, a JobSet, or a Job with
// generateName. Each is as its maker would make it now. The result is the makers, by their index.
func (s *Set) addMade(pods []Pod, index map[Reference]int) map[int]bool {
	generated, makers := s.generated(), map[int]bool{}
	for _, pod := range pods {
		claim, _ := ClaimOf(pod.Object)
		key := Reference{pod.Reference().Namespace, claim.Name}
		parts := madeName.FindStringSubmatch(key.Name)
		if _, given := index[key]; given || parts == nil {
			continue
		}
		maker, ok := index[Reference{key.Namespace, parts[1]}]
		if !ok || s.Jobs[maker].Template == "" {
			if maker, ok = generated[Reference{key.Namespace, parts[1] + "-"}]; !ok {
				continue
			}
		}
		job := s.Jobs[maker]
		job.Object, job.MadeBy = job.Object.DeepCopy(), job.Reference().Name
		job.Object.Name = key.Name
		if job.JobSet != nil {
			job.Object.Labels[v1alpha2.JobIndexKey] = strings.TrimPrefix(key.Name, parts[1]+"-")
		}
		index[key], makers[maker] = len(s.Jobs), true
		s.Jobs = append(s.Jobs, job)
	}
	return makers
}

// joinJobSets tells Jobs of the input of which JobSet of the input they are. The result is what stands for them in the JobSets, by its
// index.
func (s *Set) joinJobSets() map[int]bool {
	type child struct{ namespace, jobSet, replicatedJob string }
	templates, made := map[child]int{}, map[int]bool{}
	for i, job := range s.Jobs {
		if job.JobSet != nil && job.MadeBy == "" {
			templates[child{job.Reference().Namespace, job.JobSet.Name, job.ReplicatedJob}] = i
		}
	}
	for i := range s.Jobs {
		job := &s.Jobs[i]
		labels := job.Object.Labels
		template, found := templates[child{job.Reference().Namespace, labels[v1alpha2.JobSetNameKey], labels[v1alpha2.ReplicatedJobNameKey]}]
		if found && job.JobSet == nil {
			job.JobSet, job.ReplicatedJob = s.Jobs[template].JobSet, s.Jobs[template].ReplicatedJob
			made[template] = true
		}
	}
	return made
}

// generated finds Jobs with generateName by that. Of several with the same one, none is found.
func (s *Set) generated() map[Reference]int {
	index, times := map[Reference]int{}, map[Reference]int{}
	for i, job := range s.Jobs {
		if job.Object.Name == "" {
			index[job.Reference()] = i
			times[job.Reference()]++
		}
	}
	for key, n := range times {
		if n > 1 {
			delete(index, key)
		}
	}
	return index
}
