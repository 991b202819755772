#!/bin/bash
set -a
GROUP=${GROUP:-"mymaster"}
PORT=${PORT:-6379}

monitor() {
  {
    echo "sentinel monitor ${GROUP} ${IP} ${PORT} 2"
    echo "sentinel down-after-milliseconds ${GROUP} 5000"
    if [[ -n "${MASTER_PASSWORD}" ]];then
      echo "sentinel auth-pass ${GROUP} ${MASTER_PASSWORD}"
    fi
  }>> /etc/redis/sentinel.conf
}

tls() {
    if [[ "${TLS_MODE}" == "true" ]]; then
        {
            echo port 0
            echo tls-port 26379
        } >> /etc/redis/sentinel.conf
    else
        echo "no TLS"
    fi
}

main() {
  monitor
  tls
  exec redis-sentinel /etc/redis/sentinel.conf
}
main
