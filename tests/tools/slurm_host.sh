#!/usr/bin/env bash
# A real Slurm on this host, for tests: munge, one controller, three nodes of one CPU each. As root; it needs
# neither systemd nor cgroups.
#   slurm_host.sh start DIR   starts it in the empty folder DIR; clients need SLURM_CONF=DIR/slurm.conf
#   slurm_host.sh stop DIR    ends what start started
set -euo pipefail
action=$1 dir=$2

write_conf() {
  local host port
  host=$(hostname -s)
  port=$((10000 + $$ % 5000 * 4))
  cat > "$dir/slurm.conf" <<CONF
ClusterName=daybreak
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/sock,cred_expire=5
SlurmctldPort=$port
SlurmctldPidFile=$dir/ctl.pid
SlurmdPidFile=$dir/slurmd.%n.pid
StateSaveLocation=$dir/ctl
SlurmdSpoolDir=$dir/spool/%n
SlurmctldLogFile=$dir/log/ctl
SlurmdLogFile=$dir/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1
SlurmdTimeout=10
KillWait=2
MinJobAge=5
JobRequeue=1
RequeueExit=75
AccountingStorageType=accounting_storage/none
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 State=UNKNOWN
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 3)) CPUs=1 State=UNKNOWN
PartitionName=sweeps Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

start() {
  mkdir -p "$dir"/{ctl,log,munge,spool/n1,spool/n2,spool/n3}
  chmod 700 "$dir/munge"
  head -c 1024 /dev/urandom > "$dir/munge/key"
  chmod 400 "$dir/munge/key"
  munged --force --key-file="$dir/munge/key" --socket="$dir/munge/sock" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
  write_conf
  export SLURM_CONF=$dir/slurm.conf
  slurmctld -f "$SLURM_CONF"
  for node in n1 n2 n3; do slurmd -f "$SLURM_CONF" -N "$node"; done
  for _ in $(seq 100); do
    if [[ $(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | wc -l) == 3 ]]; then return; fi
    sleep 0.2
  done
  echo "slurm_host: the nodes did not come up" >&2
  cat "$dir"/log/* >&2
  stop
  exit 1
}

end() { if [[ -s $1 ]]; then kill "$(cat "$1")" 2>/dev/null || true; fi; }

stop() {
  for node in n1 n2 n3; do end "$dir/slurmd.$node.pid"; done
  end "$dir/ctl.pid"
  sleep 1
  end "$dir/munge/pid"
}

"$action"
